#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "planner/schedules/synthesis/request.h"

namespace stagewright {

/// A schedule that was fast enough to compare with.
struct PresetTime {
  std::string name;
  Duration time{};
};

struct Synthesis {
  PipelineOrder order;
  Duration time{};                        ///< the objective
  Duration lower_bound{};                 ///< of the objective under the order's placement
  std::optional<PresetTime> best_preset;  ///< the fastest named schedule that fits, if any does
};

/// Searches an order for given costs and caps: named schedules and patterns of virtual times,
/// replayed with the real costs under the caps, then local moves on the best of them; over looped
/// and wave placement.  Never slower than the best named schedule of one copy of the weights that
/// fits.  The same request gives the same order on every machine.
/// Fails with kInvalidInput where a size is wrong, kInfeasible where a cap is below what one
/// micro-batch holds.  REQUIRES: all sizes of the shape positive.
[[nodiscard]] Result<Synthesis> synthesize(const SynthesisRequest& request);

}  // namespace stagewright
