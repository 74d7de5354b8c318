#include "planner/schedules/pipedream.h"

#include <array>

#include <fmt/format.h>

#include "planner/schedules/one_forward_one_backward.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 1> kAliasesOf2bw{"2bw"};

Result<PipelineOrder> generate(const PipelineShape& shape) {
  return one_forward_one_backward(shape, 1, "pipedream");
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
  return one_forward_one_backward(shape, 1, "pipedream-2bw");
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
          .parameters = {},
          .asynchronous = true,
          .generate = generate_2bw};
}

}  // namespace stagewright
