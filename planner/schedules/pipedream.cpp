#include "planner/schedules/pipedream.h"

#include <array>

#include <fmt/format.h>

#include "core/base/counted.h"
#include "planner/schedules/one_forward_one_backward.h"
#include "planner/schedules/shape_rules.h"
#include "planner/schedules/stage_layout.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 1> kAliasesOf2bw{"2bw"};
constexpr std::array<std::string_view, 1> kParametersOf2bw{"update_every"};

/// The divisors of the micro-batches that are not below the ranks.
std::string working_updates(const PipelineShape& shape) {
  constexpr int kEnough = 8;
  std::string text;
  int listed = 0;
  for (std::int32_t every = shape.ranks; every <= shape.micro_batches && listed < kEnough;
       ++every) {
    if (shape.micro_batches % every == 0) {
      text += fmt::format("{}{}", listed++ == 0 ? "" : ", ", every);
    }
  }
  return text.empty() ? "none would work" : "these would work: " + text;
}

/// The order of a flush, with the weights changing on the way.
Result<PipelineOrder> with_updates(Result<PipelineOrder> order, const WeightUpdates& updates) {
  if (order) {
    order->updates = updates;
  }
  return order;
}

Result<PipelineOrder> generate(const PipelineShape& shape) {
  return with_updates(one_forward_one_backward(shape, 1, "pipedream"), {.every = 1});
}

bool accepts_2bw(const PipelineShape& shape) {
  return shape.virtual_stages == 1 && shape.micro_batches >= shape.ranks;
}

Result<PipelineOrder> generate_2bw(const PipelineShape& shape) {
  const std::int64_t every = shape.parameter("update_every", shape.micro_batches);
  ShapeRules rules(shape, "pipedream-2bw");
  add_virtual_stages_rule(rules, 1);
  rules.add(shape.micro_batches >= shape.ranks,
            "micro_batches",
            fmt::format("needs at least as many micro-batches as its {} ranks, but there are {}",
                        shape.ranks,
                        shape.micro_batches),
            fmt::format("take {} or more", shape.ranks));
  if (shape.parameters.contains("update_every")) {
    rules.add(every >= shape.ranks && shape.micro_batches % every == 0,
              "schedule_parameters/update_every",
              fmt::format("changes weights after a divisor of the {} that is not "
                          "below the {} ranks, but update_every is {}",
                          counted(shape.micro_batches, "micro-batch"),
                          shape.ranks,
                          every),
              working_updates(shape));
  }
  if (Result<void> checked = rules.check(accepts_2bw); !checked) {
    return pass_on(std::move(checked));
  }
  return with_updates(one_forward_one_backward(shape, 1, "pipedream-2bw"),
                      {.every = static_cast<std::int32_t>(every), .one_behind = true});
}

}  // namespace

ScheduleGenerator pipedream_schedule() {
  return {.name = "pipedream",
          .summary = "1F1B without a flush; every micro-batch updates, weights are stashed",
          .figures = {.bubble = "0 in steady state",
                      .peak = "P-r",
                      .weights = "P-r",
                      .constraints = "V = 1"},
          .parameters = {},
          .asynchronous = true,
          .layout = looped_layout,
          .accepts = [](const PipelineShape& shape) { return shape.virtual_stages == 1; },
          .generate = generate};
}

ScheduleGenerator pipedream_2bw_schedule() {
  return {.name = "pipedream-2bw",
          .aliases = kAliasesOf2bw,
          .summary = "1F1B without a flush; two versions of the weights",
          .figures = {.bubble = "0 in steady state",
                      .peak = "P-r",
                      .weights = "2",
                      .constraints = "V = 1, M >= P"},
          .parameters = kParametersOf2bw,
          .asynchronous = true,
          .layout = looped_layout,
          .accepts = accepts_2bw,
          .generate = generate_2bw};
}

}  // namespace stagewright
