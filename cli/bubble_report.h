#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sim/analysis/bubble_causes.h"
#include "sim/analysis/critical_path.h"

namespace stagewright {

/// Two lines: why ranks are idle, and what the step's length consists of.
[[nodiscard]] std::string explanation_text(const BubbleCauses& bubbles, const PathSums& path);

/// Adds to a report, all as shares of the step: "bubble_causes" by cause, mean over all ranks;
/// "bubble_causes_by_rank", a list; "critical_path" by kind of work and by stage.
void add_explanation(const BubbleCauses& bubbles, const PathSums& path, nlohmann::json& report);

}  // namespace stagewright
