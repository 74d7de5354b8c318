#pragma once

#include <cstdint>

namespace stagewright {

/// What the gradient of the loss is multiplied with, and how long a run goes on while its gradients
/// are no numbers.  The scale is halved by every such step and doubled after many good ones
/// (Micikevicius et al. 2018, section 3.2).  Every rank has its own: they are told the same, since
/// the totals of a step are sums over all ranks, so they agree.
class LossScaler {
 public:
  struct Options {
    bool scales = false;                ///< else the scale stays 1
    double initial = 65'536;            ///< 2^16
    std::int32_t growth_after = 2'000;  ///< good steps in a row
    /// So many steps in a row that no smaller scale could have saved end the run.
    std::int32_t patience = 3;
  };

  explicit LossScaler(const Options& options);

  [[nodiscard]] double scale() const { return scale_; }
  /// Steps so far that changed no weight.
  [[nodiscard]] std::int64_t skipped() const { return skipped_; }

  /// Takes note of a step.  `finite`: its loss and gradient norm are numbers.  False when the run
  /// has to end.
  [[nodiscard]] bool goes_on_after(bool finite);

 private:
  Options options_;
  double scale_ = 1;
  std::int64_t skipped_ = 0;
  std::int32_t good_ = 0;      ///< in a row
  std::int32_t hopeless_ = 0;  ///< in a row, at the smallest scale
};

}  // namespace stagewright
