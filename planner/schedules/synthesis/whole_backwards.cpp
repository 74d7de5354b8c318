#include "planner/schedules/synthesis/whole_backwards.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stagewright::synthesis {
namespace {

bool are_halves(const OrderStep& first, const OrderStep& second) {
  return first.micro_batch == second.micro_batch &&
         StepTable::part_of(first.type) == StepPart::kInputHalf &&
         second.type == StepTable::type_of(StepTable::stage_of(first.type), StepPart::kWeightHalf);
}

/// The list with the halves of one stage joined.
std::vector<OrderStep> joined(const std::vector<OrderStep>& list, std::int32_t stage) {
  std::vector<OrderStep> result;
  result.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i + 1 < list.size() && are_halves(list[i], list[i + 1]) &&
        StepTable::stage_of(list[i].type) == stage) {
      result.push_back({StepTable::type_of(stage, StepPart::kWholeBackward), list[i].micro_batch});
      ++i;
    } else {
      result.push_back(list[i]);
    }
  }
  return result;
}

}  // namespace

StepLists with_whole_backwards(const StepTable& table, StepLists lists) {
  OrderClock clock(table);
  if (!clock.run(lists)) {
    return lists;
  }
  const std::int64_t time = clock.score().time;
  for (std::int32_t stage = 0; stage < table.frame.stages; ++stage) {
    std::vector<OrderStep>& list = lists[static_cast<std::size_t>(table.rank_of(stage))];
    std::vector<OrderStep> halves = std::exchange(list, joined(list, stage));
    if (!clock.run(lists) || clock.score().time > time) {
      list = std::move(halves);
    }
  }
  return lists;
}

}  // namespace stagewright::synthesis
