#include "planner/schedules/synthesis/critical_steps.h"

#include <cstdint>

namespace stagewright::synthesis {
namespace {

const StepType& type_at(const StepTable& table, const StepLists& lists, const ListPlace& place) {
  return table.types[static_cast<std::size_t>(lists[place.rank][place.index].type)];
}

std::int64_t end_at(const StepTable& table,
                    const StepLists& lists,
                    const OrderClock& clock,
                    const ListPlace& place) {
  return clock.end_of(type_at(table, lists, place).slot +
                      lists[place.rank][place.index].micro_batch);
}

}  // namespace

void CriticalSteps::index_places(const StepLists& lists) {
  places_.resize(static_cast<std::size_t>(table_.slots));
  for (std::size_t rank = 0; rank < lists.size(); ++rank) {
    for (std::size_t i = 0; i < lists[rank].size(); ++i) {
      const OrderStep& step = lists[rank][i];
      const StepType& type = table_.types[static_cast<std::size_t>(step.type)];
      places_[static_cast<std::size_t>(type.slot + step.micro_batch)] = {rank, i};
    }
  }
}

/// The end of a rank whose time is the objective.
ListPlace CriticalSteps::last_step(const StepLists& lists,
                                   const OrderClock& clock,
                                   std::mt19937& engine) const {
  ListPlace best;
  std::int64_t longest = -1;
  std::uint32_t ties = 0;
  for (std::size_t rank = 0; rank < lists.size(); ++rank) {
    if (lists[rank].empty()) {
      continue;
    }
    const ListPlace last{rank, lists[rank].size() - 1};
    std::int64_t time = end_at(table_, lists, clock, last);
    if (table_.objective == SynthesisObjective::kSpan) {
      const ListPlace first{rank, 0};
      time -= end_at(table_, lists, clock, first) - type_at(table_, lists, first).duration;
    }
    if (time > longest) {
      longest = time;
      ties = 0;
    }
    // Each of the ties with the same probability.
    if (time == longest && engine() % ++ties == 0) {
      best = last;
    }
  }
  return best;
}

const std::vector<ListPlace>& CriticalSteps::find(const StepLists& lists,
                                                  const OrderClock& clock,
                                                  std::mt19937& engine) {
  index_places(lists);
  found_.clear();
  ListPlace here = last_step(lists, clock, engine);
  while (true) {
    const OrderStep& step = lists[here.rank][here.index];
    const StepType& type = type_at(table_, lists, here);
    const std::int64_t start = clock.end_of(type.slot + step.micro_batch) - type.duration;
    const bool by_data =
        type.dependency && clock.end_of(*type.dependency + step.micro_batch) + type.delay == start;
    bool by_rank = false;
    if (here.index > 0) {
      const ListPlace before{here.rank, here.index - 1};
      by_rank = end_at(table_, lists, clock, before) + type.before == start;
      if (by_rank && (!by_data || engine() % 2 == 0)) {
        found_.push_back(before);
        here = before;
        continue;
      }
    }
    if (!by_data) {
      return found_;
    }
    here = places_[static_cast<std::size_t>(*type.dependency + step.micro_batch)];
  }
}

}  // namespace stagewright::synthesis
