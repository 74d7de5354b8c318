#pragma once

#include <cmath>

#include "runtime/compute/kernels/portable.h"

/// Updates whose factor on the gradients a device finds out itself, so that the host need not wait
/// for the step's totals.
namespace stagewright::kernels {

/// *factor = unscale, times what brings the global norm down to clip_norm; NaN where the totals
/// (squared norm, loss) are no numbers.  Launched for one element.
struct UpdateFactor {
  const float* totals;
  float* factor;
  double unscale;
  double clip_norm;  ///< negative: none
  SW_HOST_DEVICE void operator()(Index /*one*/) const {
    double scale = unscale;
    const auto norm = std::sqrt(static_cast<double>(totals[0]));
    if (clip_norm >= 0.0 && norm > clip_norm) {
      scale *= clip_norm / norm;
    }
    const float doubtful = totals[0] - totals[0] + totals[1] - totals[1];  // 0, or NaN
    *factor = static_cast<float>(scale) + doubtful;
  }
};

/// The update with *factor as its gradient_scale; nothing where that is NaN.
template <class Update>
struct Gated {
  Update update;
  const float* factor;  ///< null: the update as it is
  SW_HOST_DEVICE void operator()(Index i) const {
    Update scaled = update;
    if (factor != nullptr) {
      scaled.gradient_scale = *factor;
    }
    if (!std::isnan(scaled.gradient_scale)) {
      scaled(i);
    }
  }
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    update.operands(visit);
  }
};

}  // namespace stagewright::kernels
