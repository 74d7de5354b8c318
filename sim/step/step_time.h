#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/training/training_setup.h"
#include "sim/cost/step_constants.h"
#include "sim/step/stage_layers.h"

namespace stagewright {

/// Parts of a step's time; they add up to it.
enum class StepTerm : std::uint8_t {
  kProducts,         ///< matrix products of layers
  kAttention,        ///< scores, softmax, context
  kElementwise,      ///< norms, activations, residuals, copies
  kExperts,          ///< routing and the experts' products
  kRecompute,        ///< forward work done again
  kVocabulary,       ///< embedding, output layer, loss
  kHost,             ///< the device waits for the host
  kTensorTraffic,    ///< tensor-parallel collectives that nothing hides
  kContextTraffic,   ///< the same of context parallelism
  kExpertTraffic,    ///< dispatch and combine
  kTransfers,        ///< between stages
  kBubble,           ///< pipeline idle time
  kGradientTraffic,  ///< data-parallel reduction, and the gather of sharded state
  kOptimizer,
  kFixed,  ///< once per step
  kStragglers,
};
inline constexpr std::size_t kStepTermCount = static_cast<std::size_t>(StepTerm::kStragglers) + 1;
[[nodiscard]] std::string_view name_of(StepTerm term);

struct StepTime {
  double seconds = 0;
  std::array<double, kStepTermCount> terms{};  ///< seconds each
  /// Standard deviation of the logarithm of measured over predicted that this mix of terms has
  /// had on sources that were left out of the calibration.
  double deviation = 0;
  friend bool operator==(const StepTime&, const StepTime&) = default;

  [[nodiscard]] double operator[](StepTerm term) const {
    return terms[static_cast<std::size_t>(term)];
  }
};

/// Closed form of a step's time (docs/costs.md has every formula and its source).  No allocation;
/// a few microseconds.  REQUIRES: check(setup.run) holds; every peak rate that the run's number
/// format falls back to is in the device (a device without any gives a failure from `can_price`).
[[nodiscard]] StepTime step_time(const TrainingSetup& setup, const StepConstants& constants);

/// How the closed form divides the layers over the pipeline's ranks.  REQUIRES: as step_time.
[[nodiscard]] StageLayers rank_layers_of(const TrainingSetup& setup,
                                         const StepConstants& constants);

/// Standard deviation of the logarithm for this mix of terms.
[[nodiscard]] double step_deviation(const StepTime& step, const StepBand& band);

/// The same for a device whose architecture no calibration has seen: how far the shares of those
/// that one has seen lie from the default (root mean square of the logarithm); 0 for those.
[[nodiscard]] double device_deviation(const DeviceType& device, const StepConstants& constants);

/// Whether the closed form knows how long a schedule's ranks are idle: warm-up and cool-down of one
/// pass through the stages.  Empty: as frameworks do it, 1F1B.
[[nodiscard]] bool has_bubble_term(std::string_view schedule);

/// Why `step_time` cannot price this setup, or nothing.
[[nodiscard]] Result<void> can_price(const TrainingSetup& setup);

}  // namespace stagewright
