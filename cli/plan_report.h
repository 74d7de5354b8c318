#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "planner/search/search.h"
#include "sim/memory/step_memory.h"

namespace stagewright {

/// What a search found, with what the reports need beside it.
struct Searched {
  SearchResult result;
  std::vector<StageMemory> memory;  ///< of result.plans: the fullest stage, with what the allocator
                                    ///< keeps and the driver takes
  /// Why `stagewright run` cannot train by a plan; by plan of the result's lists.
  struct Obstacles {
    std::vector<std::optional<std::string>> plans;
    std::vector<std::optional<std::string>> estimated;
    std::vector<std::optional<std::string>> pareto;
  };
  Obstacles obstacles;
  Objective objective;
  double step_tokens = 1;
  std::optional<double> tokens;  ///< of the whole training
};

[[nodiscard]] nlohmann::json to_json(const Searched& searched);
[[nodiscard]] std::string to_text(const Searched& searched, std::int32_t shown_rejections);

}  // namespace stagewright
