#pragma once

#include <cmath>
#include <cstdint>

#include "runtime/compute/kernels/cross_entropy.h"
#include "runtime/compute/kernels/operands_in_packs.h"
#include "runtime/compute/kernels/portable.h"
#include "runtime/compute/kernels/squared_error.h"

/// Sums over a whole tensor on a device whose memory the host does not see, in an order that
/// depends only on the sizes.  Each is launched for one row, but for SquareParts.
namespace stagewright::kernels {

/// parts[r] = sum of x[i]^2 over the r-th `width` elements of `count`.
struct SquareParts {
  const float* x;
  float* parts;
  Index count;
  Index width;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const float* in = x + row * width;
    const Index left = count - row * width;
    const float sum =
        team.sum(left < width ? left : width,
                 over([](Index i, const float* v) { return v[i] * v[i]; }, reads(in)));
    team.once([&] { parts[row] = sum; });
  }
};

/// *total += scale * (x[0] + x[1] + ...).
struct AddSum {
  const float* x;
  Index count;
  float scale;
  float* total;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index /*row*/) const {
    const float* in = x;
    const float sum = team.sum(count, [=](Index i) { return in[i]; });
    team.once([&] { *total += scale * sum; });
  }
};

/// *total += scale * the cross entropy of the rows that count.
struct AddCrossEntropy {
  CrossEntropyLoss of;
  Index rows;
  float scale;
  float* total;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index /*row*/) const {
    const CrossEntropyLoss loss = of;
    const float sum = team.sum(rows, [=](Index r) {
      return loss.targets[r] < 0
                 ? 0.0F
                 : std::log(loss.row_sum[r]) + loss.row_max[r] - loss.target_logit[r];
    });
    team.once([&] { *total += scale * sum; });
  }
};

/// *total += scale * the squared error of the rows that count.
struct AddSquaredError {
  SquaredErrorLoss of;
  Index rows;
  float scale;
  float* total;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index /*row*/) const {
    const SquaredErrorLoss loss = of;
    const float sum =
        team.sum(rows, [=](Index r) { return loss.targets[r] < 0 ? 0.0F : loss.row_sum[r]; });
    team.once([&] { *total += scale * sum; });
  }
};

}  // namespace stagewright::kernels
