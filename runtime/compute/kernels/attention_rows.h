#pragma once

#include <cmath>

#include "runtime/compute/kernels/float_math.h"
#include "runtime/compute/kernels/operands_in_packs.h"
#include "runtime/compute/kernels/portable.h"

/// Row kernels of attention between its matrix products; one row is one query
/// of a block, with `keys` scores.  Query r of the block sees the first
/// `first_visible + r` keys, or all when the mask is off.
namespace stagewright::kernels {

struct AttentionMask {
  Index keys;
  Index first_visible;  ///< keys that row 0 sees
  bool causal;
  [[nodiscard]] SW_HOST_DEVICE Index visible(Index row) const {
    return causal ? first_visible + row : keys;
  }
};

/// scores become exp(scale * score - largest), 0 where masked; saves the sum's
/// inverse and the log-sum-exp of the scaled scores.
struct AttentionSoftmax {
  float* scores;
  float* inverse_sum;
  float* log_sum_exp;
  AttentionMask mask;
  float scale;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    float* s = scores + row * mask.keys;
    const Index visible = mask.visible(row);
    const float factor = scale;
    const auto value = [](Index i, const float* x) { return x[i]; };
    const float largest = team.max(visible, over(value, reads(s))) * factor;
    const auto weight = [=](Index i, float* x) {
      const float e = fast_exp(x[i] * factor - largest);
      x[i] = e;
      return e;
    };
    const float sum = team.sum(visible, over(weight, changes(s)));
    float* masked = s + visible;
    team.each(mask.keys - visible, [=](Index i) { masked[i] = 0.0F; });
    team.once([&] {
      inverse_sum[row] = 1.0F / sum;
      log_sum_exp[row] = largest + std::log(sum);
    });
  }
};

/// Joins what a query has gathered from other keys, its output and log-sum-exp, with `keys` more:
/// scores become probabilities exp(scale * score - log-sum-exp of all), and the output so far is
/// scaled to them (Dao et al. 2022, section 3.1).  Rows of the output lie `stride` apart.
struct AttentionJoin {
  float* scores;
  float* output;
  float* log_sum_exp;
  Index keys;
  Index width;
  Index stride;
  float scale;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    float* s = scores + row * keys;
    float* out = output + row * stride;
    const float factor = scale;
    const float largest = team.max(keys, [=](Index i) { return s[i]; }) * factor;
    const float sum = team.sum(keys, [=](Index i) {
      const float e = fast_exp(s[i] * factor - largest);
      s[i] = e;
      return e;
    });
    const float before = log_sum_exp[row];
    const float added = largest + std::log(sum);
    const float higher = before > added ? before : added;
    const float lower = before > added ? added : before;
    const float joined = higher + std::log1p(std::exp(lower - higher));
    const float share = std::exp(largest - joined);
    const float kept = std::exp(before - joined);
    team.each(keys, [=](Index i) { s[i] *= share; });
    team.each(width, [=](Index i) { out[i] *= kept; });
    team.sync();
    team.once([&] { log_sum_exp[row] = joined; });
  }
};

/// scores become probabilities exp(scale * score - log_sum_exp), 0 where masked.
struct AttentionProbabilities {
  float* scores;
  const float* log_sum_exp;
  AttentionMask mask;
  float scale;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    float* s = scores + row * mask.keys;
    const Index visible = mask.visible(row);
    const float factor = scale;
    const float shift = log_sum_exp[row];
    const auto weigh = [=](Index i, float* x) { x[i] = fast_exp(x[i] * factor - shift); };
    team.each(visible, over(weigh, changes(s)));
    float* masked = s + visible;
    team.each(mask.keys - visible, [=](Index i) { masked[i] = 0.0F; });
  }
};

/// The gradient of the scores from that of the probabilities, in its place:
/// scale * p * (dp - delta), delta = <dout, out> of the query (Dao et al. 2022).
struct AttentionScoreGradient {
  const float* probabilities;
  float* gradient;
  const float* delta;
  Index keys;
  float scale;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const float* p = probabilities + row * keys;
    float* g = gradient + row * keys;
    const float shift = delta[row];
    const float factor = scale;
    const auto turn = [=](Index i, const float* weight, float* grad) {
      grad[i] = weight[i] * (grad[i] - shift) * factor;
    };
    team.each(keys, over(turn, reads(p), changes(g)));
  }
};

/// result[r] = <a[r], b[r]>; rows of both lie `stride` apart.
struct RowDot {
  const float* a;
  const float* b;
  float* result;
  Index width;
  Index stride;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const float* x = a + row * stride;
    const float* y = b + row * stride;
    const auto product = [](Index i, const float* u, const float* v) { return u[i] * v[i]; };
    const float sum = team.sum(width, over(product, reads(x), reads(y)));
    team.once([&] { result[row] = sum; });
  }
};

/// y[r] *= factor[r]; rows lie `stride` apart.
struct ScaleRows {
  float* y;
  const float* factor;
  Index width;
  Index stride;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    float* out = y + row * stride;
    const float f = factor[row];
    team.each(width, over([=](Index i, float* o) { o[i] *= f; }, changes(out)));
  }
};

}  // namespace stagewright::kernels
