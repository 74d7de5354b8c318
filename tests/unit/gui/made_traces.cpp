#include "tests/unit/gui/made_traces.h"

#include "planner/schedules/registry.h"
#include "sim/analysis/list_trace.h"
#include "sim/analysis/order_check.h"

namespace stagewright::test {

using namespace std::chrono_literals;

Trace pipeline_trace(const std::string& schedule,
                     std::int32_t ranks,
                     std::int32_t micro_batches,
                     std::int32_t copies) {
  const ScheduleGenerator generator = find_schedule(schedule).value();
  const PipelineOrder order = generator
                                  .generate({.ranks = ranks,
                                             .virtual_stages = generator.default_virtual_stages,
                                             .micro_batches = micro_batches})
                                  .value();
  const TokenList list = token_list(order);
  const PipelineCosts costs = costs_per_stage({.forward = 1s,
                                               .backward = 2s,
                                               .backward_input = 1s,
                                               .backward_weight = 1s,
                                               .recompute = 1s,
                                               .transfer = 50ms},
                                              list.stages);
  Trace trace = list_trace(list, costs, time_list(list, costs));
  const std::size_t events = trace.events.size();
  for (std::int32_t copy = 1; copy < copies; ++copy) {
    for (std::size_t i = 0; i < events; ++i) {
      TraceEvent event = trace.events[i];
      event.rank = RankId(event.rank.value() + copy * ranks);
      trace.events.push_back(event);
    }
  }
  trace.ranks = ranks * copies;
  trace.schedule_hash = "made";
  return trace;
}

}  // namespace stagewright::test
