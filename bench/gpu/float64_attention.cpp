#include <algorithm>
#include <cmath>

#include "float64_call.h"

namespace stagewright::gpu_check {

namespace {

/// One query row of attention: its probabilities, and where its operands lie.
class Query {
 public:
  Query(const Call& call, const Doubles& qkv, Index batch, Index token, Index head)
      : dim_(static_cast<Index>(call.op.shape.head_dim)),
        sequence_(static_cast<Index>(call.op.shape.sequence)),
        heads_(static_cast<Index>(call.op.shape.heads)),
        kv_heads_(static_cast<Index>(call.op.shape.kv_heads)),
        batch_(batch),
        token_(token),
        head_(head),
        scale_(1.0 / std::sqrt(static_cast<double>(dim_))) {
    const Index visible = call.op.causal ? token + 1 : sequence_;
    double sum = 0;
    for (Index j = 0; j < visible; ++j) {
      double score = 0;
      for (Index i = 0; i < dim_; ++i) {
        score += qkv[q(i)] * qkv[k(j, i)];
      }
      probabilities_.push_back(std::exp(score * scale_));
      sum += probabilities_.back();
    }
    for (double& p : probabilities_) {
      p /= sum;
    }
    log_sum_exp_ = std::log(sum);
  }

  [[nodiscard]] Index q(Index i) const { return row(token_) + head_ * dim_ + i; }
  [[nodiscard]] Index k(Index key, Index i) const {
    return row(key) + (heads_ + kv_head()) * dim_ + i;
  }
  [[nodiscard]] Index v(Index key, Index i) const {
    return row(key) + (heads_ + kv_heads_ + kv_head()) * dim_ + i;
  }
  [[nodiscard]] Index output(Index i) const {
    return ((batch_ * sequence_ + token_) * heads_ + head_) * dim_ + i;
  }
  [[nodiscard]] Index saved() const { return (batch_ * heads_ + head_) * sequence_ + token_; }
  [[nodiscard]] const Doubles& probabilities() const { return probabilities_; }
  [[nodiscard]] double log_sum_exp() const { return log_sum_exp_; }
  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] Index dim() const { return dim_; }

 private:
  [[nodiscard]] Index row(Index token) const {
    return (batch_ * sequence_ + token) * (heads_ + 2 * kv_heads_) * dim_;
  }
  [[nodiscard]] Index kv_head() const { return head_ / (heads_ / kv_heads_); }

  Index dim_;
  Index sequence_;
  Index heads_;
  Index kv_heads_;
  Index batch_;
  Index token_;
  Index head_;
  double scale_;
  Doubles probabilities_;
  double log_sum_exp_ = 0;
};

template <class Body>
void each_query(const Call& call, const Doubles& qkv, Body body) {
  const OpShape& shape = call.op.shape;
  for (Index b = 0; b < static_cast<Index>(shape.batch); ++b) {
    for (Index t = 0; t < static_cast<Index>(shape.sequence); ++t) {
      for (Index h = 0; h < static_cast<Index>(shape.heads); ++h) {
        body(Query(call, qkv, b, t, h));
      }
    }
  }
}

}  // namespace

void attention_forward(Call& call) {
  const Doubles& qkv = call.in[0];
  each_query(call, qkv, [&](const Query& query) {
    call.out[1][query.saved()] = query.log_sum_exp();
    for (Index i = 0; i < query.dim(); ++i) {
      double value = 0;
      for (Index j = 0; j < query.probabilities().size(); ++j) {
        value += query.probabilities()[j] * qkv[query.v(j, i)];
      }
      call.out[0][query.output(i)] = value;
    }
  });
}

void attention_backward(Call& call) {
  const Doubles& dout = call.in[0];
  const Doubles& qkv = call.in[1];
  Doubles& dqkv = call.out[0];
  std::fill(dqkv.begin(), dqkv.end(), 0.0);
  each_query(call, qkv, [&](const Query& query) {
    const Doubles& p = query.probabilities();
    Doubles dp(p.size());
    double dot = 0;
    for (Index j = 0; j < p.size(); ++j) {
      for (Index i = 0; i < query.dim(); ++i) {
        dp[j] += dout[query.output(i)] * qkv[query.v(j, i)];
        dqkv[query.v(j, i)] += p[j] * dout[query.output(i)];
      }
      dot += p[j] * dp[j];
    }
    for (Index j = 0; j < p.size(); ++j) {
      const double ds = p[j] * (dp[j] - dot) * query.scale();
      for (Index i = 0; i < query.dim(); ++i) {
        dqkv[query.q(i)] += ds * qkv[query.k(j, i)];
        dqkv[query.k(j, i)] += ds * qkv[query.q(i)];
      }
    }
  });
}

}  // namespace stagewright::gpu_check
