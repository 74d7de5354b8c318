#include <algorithm>

#include <fmt/format.h>

#include "core/schedule/checks.h"
#include "core/schedule/indices.h"
#include "core/schedule/semantics.h"
#include "core/schedule/wait_cycle.h"

namespace stagewright {

std::string action_name(const Schedule& schedule, RankId rank, std::int32_t action) {
  const RankProgram& program = schedule.programs[schedule.ranks[rank.index()].program.index()];
  return fmt::format("rank {} action {} ({})",
                     rank.value(),
                     action,
                     to_string(program.actions[static_cast<std::size_t>(action)]));
}

std::string action_cycle_text(const Schedule& schedule,
                              std::vector<std::pair<RankId, std::int32_t>> cycle) {
  cycle.erase(std::unique(cycle.begin(), cycle.end()), cycle.end());
  if (cycle.size() > 1 && cycle.front() == cycle.back()) {
    cycle.pop_back();
  }
  return wait_cycle_text(cycle.size(), [&](std::size_t i) {
    return WaitLink{action_name(schedule, cycle[i].first, cycle[i].second)};
  });
}

std::vector<RankId> first_ranks(const Schedule& schedule) {
  std::vector<RankId> first(schedule.programs.size());
  for (std::size_t i = schedule.ranks.size(); i-- > 0;) {
    first[schedule.ranks[i].program.index()] = RankId(i);
  }
  return first;
}

Result<void> validate(const Schedule& schedule) {
  if (auto checked = check_indices(schedule, "schedule:"); !checked) {
    return checked;
  }
  for (const auto check : {check_coverage,
                           check_order,
                           check_weights,
                           check_messages,
                           check_collectives,
                           check_progress}) {
    if (auto checked = check(schedule); !checked) {
      return checked;
    }
  }
  return {};
}

}  // namespace stagewright
