#include "planner/schedules/synthesis/starts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "core/base/check.h"
#include "planner/schedules/registry.h"

namespace stagewright::synthesis {
namespace {

/// A schedule's parameters that are worth a try: none, and the groups that its rule allows.
std::vector<std::map<std::string, std::int64_t>> choices(const ScheduleGenerator& generator,
                                                         const PipelineShape& shape) {
  std::vector<std::map<std::string, std::int64_t>> all{{}};
  const auto known = generator.parameters;
  if (shape.virtual_stages > 1 && std::find(known.begin(), known.end(), "group") != known.end()) {
    for (const std::int32_t group : {shape.ranks, 2 * shape.ranks, shape.micro_batches}) {
      all.push_back({{"group", group}});
    }
  }
  return all;
}

}  // namespace

std::vector<StartOrder> preset_orders(const StepTable& table) {
  const auto ranks = static_cast<std::int32_t>(table.caps.size());
  PipelineShape shape{.ranks = ranks,
                      .virtual_stages = table.frame.stages / ranks,
                      .micro_batches = table.frame.micro_batches};
  std::vector<StartOrder> starts;
  for (const ScheduleGenerator& generator : schedule_generators()) {
    if (generator.asynchronous || generator.synthesised) {
      continue;
    }
    for (const auto& parameters : choices(generator, shape)) {
      shape.parameters = parameters;
      const Result<PipelineOrder> order = generator.generate(shape);
      if (order && order->placement == table.frame.placement) {
        for (const bool split : {true, false}) {
          starts.push_back({std::string(generator.name), to_steps(table, *order, split)});
        }
      }
    }
  }
  return starts;
}

StepLists serial_order(const StepTable& table) {
  StepLists lists(table.caps.size());
  const auto add = [&](std::int32_t stage, StepPart part, std::int32_t m) {
    lists[static_cast<std::size_t>(table.rank_of(stage))].push_back(
        {StepTable::type_of(stage, part), m});
  };
  for (std::int32_t m = 0; m < table.frame.micro_batches; ++m) {
    for (std::int32_t stage = 0; stage < table.frame.stages; ++stage) {
      add(stage, StepPart::kForward, m);
    }
    for (std::int32_t stage = table.frame.stages; stage-- > 0;) {
      add(stage, StepPart::kWholeBackward, m);
    }
  }
  return lists;
}

VirtualTimes times_of(const StepTable& table, const StepLists& lists) {
  StepTable unlimited = table;
  unlimited.caps.assign(table.caps.size(), std::numeric_limits<std::int64_t>::max());
  OrderClock clock(unlimited);
  SW_CHECK(clock.run(lists), "an order that can run");
  VirtualTimes times;
  for (std::int32_t stage = 0; stage < table.frame.stages; ++stage) {
    const StepType& forward = table.at(stage, StepPart::kForward);
    const StepType& input = table.at(stage, StepPart::kInputHalf);
    for (std::int32_t m = 0; m < table.frame.micro_batches; ++m) {
      times.forward.push_back(
          static_cast<double>(clock.end_of(forward.slot + m) - forward.duration));
      // Of a whole backward that is what it would be if its weight half came first: the order of
      // what a rank starts is the same.
      times.backward.push_back(static_cast<double>(clock.end_of(input.slot + m) - input.duration));
    }
  }
  return times;
}

}  // namespace stagewright::synthesis
