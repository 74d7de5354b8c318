#include "runtime/compute/attention.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gradient_check.h"

namespace stagewright::kernels {
namespace {

struct Saved {
  Floats output, log_sum_exp;
};

Index tokens(const AttentionShape& s) {
  return s.batch * s.sequence;
}
Index packed(const AttentionShape& s) {
  return (s.heads + 2 * s.kv_heads) * s.head_dim;
}

Floats workspace(Bytes size) {
  return Floats(static_cast<std::size_t>(size.count()) / sizeof(float));
}

Saved forward(const Floats& qkv, const AttentionShape& shape) {
  Saved saved = {
      .output = Floats(static_cast<std::size_t>(tokens(shape) * shape.heads * shape.head_dim)),
      .log_sum_exp = Floats(static_cast<std::size_t>(tokens(shape) * shape.heads))};
  Floats scratch = workspace(attention_forward_workspace(shape));
  attention_forward({.shape = shape,
                     .qkv = qkv.data(),
                     .output = saved.output.data(),
                     .log_sum_exp = saved.log_sum_exp.data(),
                     .workspace = scratch.data()});
  return saved;
}

// One query at a time, one score at a time.
struct Reference {
  Doubles output, log_sum_exp;

  Reference(const Doubles& qkv, const AttentionShape& s) {
    for (Index b = 0; b < s.batch; ++b) {
      for (Index t = 0; t < s.sequence; ++t) {
        for (Index h = 0; h < s.heads; ++h) {
          append(qkv, s, b, t, h);
        }
      }
    }
    log_sum_exp.resize(output.size() / static_cast<std::size_t>(s.head_dim));
    for (Index b = 0; b < s.batch; ++b) {
      for (Index t = 0; t < s.sequence; ++t) {
        for (Index h = 0; h < s.heads; ++h) {
          log_sum_exp[static_cast<std::size_t>((b * s.heads + h) * s.sequence + t)] =
              sums_[static_cast<std::size_t>((b * s.sequence + t) * s.heads + h)];
        }
      }
    }
  }

 private:
  void append(const Doubles& qkv, const AttentionShape& s, Index b, Index t, Index h) {
    const Index kv = h / (s.heads / s.kv_heads);
    const auto at = [&](Index token, Index head, Index i) {
      return qkv[static_cast<std::size_t>((b * s.sequence + token) * packed(s) + head * s.head_dim +
                                          i)];
    };
    const Index visible = s.causal ? t + 1 : s.sequence;
    Doubles p;
    double sum = 0.0;
    for (Index j = 0; j < visible; ++j) {
      double score = 0.0;
      for (Index i = 0; i < s.head_dim; ++i) {
        score += at(t, h, i) * at(j, s.heads + kv, i);
      }
      p.push_back(std::exp(score / std::sqrt(static_cast<double>(s.head_dim))));
      sum += p.back();
    }
    sums_.push_back(std::log(sum));
    for (Index i = 0; i < s.head_dim; ++i) {
      double value = 0.0;
      for (Index j = 0; j < visible; ++j) {
        value += p[static_cast<std::size_t>(j)] / sum * at(j, s.heads + s.kv_heads + kv, i);
      }
      output.push_back(value);
    }
  }

  Doubles sums_;
};

std::vector<AttentionShape> shapes() {
  std::vector<AttentionShape> result;
  for (const bool causal : {true, false}) {
    for (const Index sequence : {1, 7, 63, 64, 65, 130}) {
      result.push_back({2, sequence, 2, 2, 16, causal});
    }
    result.push_back({1, 65, 6, 2, 7, causal});    // grouped
    result.push_back({2, 70, 4, 1, 33, causal});   // one kv head
    result.push_back({1, 66, 1, 1, 130, causal});  // wide
  }
  return result;
}

std::string name_of(const AttentionShape& s) {
  return "batch " + std::to_string(s.batch) + ", sequence " + std::to_string(s.sequence) +
         ", heads " + std::to_string(s.heads) + "/" + std::to_string(s.kv_heads) + " of " +
         std::to_string(s.head_dim) + (s.causal ? ", causal" : "");
}

TEST(Attention, MatchesTheDoublePrecisionReference) {
  RandomInputs random(111);
  for (const AttentionShape& shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    const Floats qkv = random.normal(tokens(shape) * packed(shape));
    const Saved saved = forward(qkv, shape);
    const Reference reference(to_double(qkv), shape);
    expect_near(saved.output, reference.output, 2e-6);
    expect_near(saved.log_sum_exp, reference.log_sum_exp, 1e-6);
  }
}

TEST(GradientCheck, Attention) {
  RandomInputs random(112);
  for (const AttentionShape& shape : shapes()) {
    SCOPED_TRACE(name_of(shape));
    const Floats qkv = random.normal(tokens(shape) * packed(shape));
    const Saved saved = forward(qkv, shape);
    const Floats dout = random.normal(static_cast<Index>(saved.output.size()));
    Floats dqkv(qkv.size(), 99.0F);
    Floats scratch = workspace(attention_backward_workspace(shape));
    attention_backward({.shape = shape,
                        .qkv = qkv.data(),
                        .output = saved.output.data(),
                        .log_sum_exp = saved.log_sum_exp.data(),
                        .doutput = dout.data(),
                        .dqkv = dqkv.data(),
                        .workspace = scratch.data()});
    expect_gradient(qkv,
                    dqkv,
                    {[&](const Floats& v) { return dot(forward(v, shape).output, dout); },
                     [&](const Doubles& v) { return dot(Reference(v, shape).output, dout); }},
                    random);
  }
}

// Its memory grows with the sequence, not with its square.
TEST(Attention, SaysItsWorkspace) {
  const AttentionShape shape = {8, 1000, 4, 2, 64};
  EXPECT_EQ(attention_forward_workspace(shape), Bytes(64 * 1000 * 4));
  EXPECT_EQ(attention_backward_workspace(shape), Bytes(2 * 64 * 1000 * 4));
}

}  // namespace
}  // namespace stagewright::kernels
