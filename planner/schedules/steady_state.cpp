#include "planner/schedules/steady_state.h"

#include <cmath>

namespace stagewright {
namespace {

/// In micro-batches per rank: more than twice the way of one through the pipeline and back, and as
/// much again to measure over.
constexpr std::int32_t kSettled = 8;

Result<Duration> makespan_of(const ScheduleGenerator& generator,
                             const PipelineShape& shape,
                             std::int32_t micro_batches,
                             const PipelineCosts& costs) {
  // Parameters of asynchronous schedules say when weights change, not what runs when.
  const Result<PipelineOrder> order = generator.generate({.ranks = shape.ranks,
                                                          .virtual_stages = shape.virtual_stages,
                                                          .micro_batches = micro_batches,
                                                          .parameters = {}});
  if (!order) {
    return tl::unexpected<Error>(order.error());
  }
  const Result<PipelineTimer> timer = PipelineTimer::make(*order);
  if (!timer) {
    return tl::unexpected<Error>(timer.error());
  }
  PipelineTimer::Scratch scratch;
  return timer->makespan(costs, scratch);
}

}  // namespace

Result<Duration> steady_time(const ScheduleGenerator& generator,
                             const PipelineShape& shape,
                             const PipelineCosts& costs) {
  const std::int32_t settled = kSettled * shape.ranks;
  Result<Duration> shorter = makespan_of(generator, shape, settled, costs);
  if (!shorter) {
    return shorter;
  }
  Result<Duration> longer = makespan_of(generator, shape, 2 * settled, costs);
  if (!longer) {
    return longer;
  }
  const double share = static_cast<double>(shape.micro_batches) / settled;
  return Duration(std::llround(static_cast<double>((*longer - *shorter).count()) * share));
}

}  // namespace stagewright
