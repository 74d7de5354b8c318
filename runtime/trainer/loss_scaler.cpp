#include "runtime/trainer/loss_scaler.h"

namespace stagewright {

LossScaler::LossScaler(const Options& options)
    : options_(options), scale_(options.scales ? options.initial : 1) {}

bool LossScaler::goes_on_after(bool finite) {
  if (finite) {
    hopeless_ = 0;
    if (options_.scales && ++good_ == options_.growth_after) {
      good_ = 0;
      scale_ *= 2;
    }
    return true;
  }
  ++skipped_;
  good_ = 0;
  if (scale_ > 1) {
    scale_ /= 2;
    return true;
  }
  return ++hopeless_ < options_.patience;
}

}  // namespace stagewright
