#include "planner/schedules/pipedream.h"

#include <array>

#include <fmt/format.h>

#include "planner/schedules/one_forward_one_backward.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 1> kAliasesOf2bw{"2bw"};
constexpr std::array<std::string_view, 1> kParametersOf2bw{"update_every"};

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

Result<PipelineOrder> generate_2bw(const PipelineShape& shape) {
  if (shape.micro_batches < shape.ranks) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("schedule 'pipedream-2bw' needs at least as many micro-batches as its "
                            "{} ranks, but there are {}; take {} or more",
                            shape.ranks,
                            shape.micro_batches,
                            shape.ranks),
                "plan:/micro_batches");
  }
  const std::int64_t every = shape.parameter("update_every", shape.micro_batches);
  if (every < shape.ranks || shape.micro_batches % every != 0) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("update_every is {}; weights change after a divisor of the {} "
                            "micro-batches that is not below the {} ranks",
                            every,
                            shape.micro_batches,
                            shape.ranks),
                "plan:/schedule_parameters/update_every");
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
          .generate = generate_2bw};
}

}  // namespace stagewright
