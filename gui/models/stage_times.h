#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/units.h"

namespace stagewright::gui {

struct OpenedFile;

/// What a stage costs for one micro-batch, on average, and how its layers lie.
struct StageTime {
  Duration forward{};
  Duration backward{};   ///< whole, or the half that the stage before waits for
  Duration weight{};     ///< the other half
  Duration recompute{};  ///< where it is an action of its own
  std::int32_t first_layer = 0;
  std::int32_t layers = 0;
  std::optional<Bytes> peak;   ///< of the fullest rank that holds it
  std::optional<Bytes> limit;  ///< of that rank
  friend bool operator==(const StageTime&, const StageTime&) = default;

  [[nodiscard]] Duration whole() const { return forward + backward + weight + recompute; }
};

/// By stage, of the step that is shown when the file is opened.  Layers are 0 where it is no plan.
[[nodiscard]] std::vector<StageTime> stage_times(const OpenedFile& file);

/// How much longer the slowest stage takes than the mean; 0 for none.
[[nodiscard]] double imbalance(const std::vector<StageTime>& stages);

}  // namespace stagewright::gui
