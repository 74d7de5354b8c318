#include "planner/schedules/shape_rules.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/counted.h"

namespace stagewright {
namespace {

/// With the number of micro-batches nearest to the shape's that it is accepted with, if any is
/// below twice what it has and four for each stage.
std::optional<PipelineShape> with_micro_batches(PipelineShape shape,
                                                bool (*accepts)(const PipelineShape&)) {
  const std::int64_t asked = shape.micro_batches;
  const std::int64_t most = 2 * asked + std::int64_t{4} * shape.stages();
  const auto takes = [&](std::int64_t batches) {
    shape.micro_batches = static_cast<std::int32_t>(batches);
    return batches >= 1 && batches <= most && accepts(shape);
  };
  for (std::int64_t away = 0; away <= most; ++away) {
    if (takes(asked - away) || takes(asked + away)) {
      return shape;
    }
  }
  return std::nullopt;
}

std::optional<PipelineShape> nearest(const PipelineShape& asked,
                                     bool (*accepts)(const PipelineShape&)) {
  std::optional<PipelineShape> best;
  for (const std::int32_t ranks : {asked.ranks, asked.ranks - 1, asked.ranks + 1}) {
    for (const std::int32_t stages :
         {asked.virtual_stages, 1, 2, asked.virtual_stages - 1, asked.virtual_stages + 1}) {
      if (best || ranks < 1 || stages < 1) {
        continue;
      }
      PipelineShape shape = asked;
      shape.parameters.clear();
      shape.ranks = ranks;
      shape.virtual_stages = stages;
      best = with_micro_batches(shape, accepts);
    }
  }
  return best;
}

}  // namespace

void ShapeRules::add(bool holds, std::string_view key, std::string broken, std::string remedy) {
  if (!holds) {
    broken_.push_back({std::string(key), std::move(broken), std::move(remedy)});
  }
}

Result<void> ShapeRules::check(bool (*accepts)(const PipelineShape&)) const {
  if (broken_.empty()) {
    return {};
  }
  std::string text = fmt::format("schedule '{}' {}", schedule_, broken_.front().what);
  std::string where = "plan:/" + broken_.front().key;
  if (broken_.size() == 1) {
    return fail(ErrorCode::kInfeasible, text + "; " + broken_.front().remedy, where);
  }
  for (std::size_t i = 1; i < broken_.size(); ++i) {
    text += ", and " + broken_[i].what;
    where += ", plan:/" + broken_[i].key;
  }
  if (const auto works = nearest(shape_, accepts)) {
    text += fmt::format("; {} with {} and virtual_stages {} would work",
                        counted(works->ranks, "rank"),
                        counted(works->micro_batches, "micro-batch"),
                        works->virtual_stages);
  }
  return fail(ErrorCode::kInfeasible, text, where);
}

void add_virtual_stages_rule(ShapeRules& rules, std::int32_t virtual_stages) {
  const std::int32_t given = rules.shape().virtual_stages;
  rules.add(given == virtual_stages,
            "virtual_stages",
            fmt::format("has {} virtual stage{} per rank, but virtual_stages is {}",
                        virtual_stages,
                        virtual_stages == 1 ? "" : "s",
                        given),
            fmt::format("set it to {}", virtual_stages));
}

void add_two_way_rules(ShapeRules& rules) {
  const PipelineShape& shape = rules.shape();
  rules.add(shape.virtual_stages <= 2,
            "virtual_stages",
            fmt::format("has one stage per rank and direction, but virtual_stages is {}",
                        shape.virtual_stages),
            "set it to 1");
  rules.add(shape.ranks % 2 == 0,
            "stages",
            fmt::format("needs an even number of ranks, but there are {}", shape.ranks),
            fmt::format("{}{} would work",
                        shape.ranks > 1 ? fmt::format("{} or ", shape.ranks - 1) : "",
                        shape.ranks + 1));
}

}  // namespace stagewright
