#include "runtime/trainer/runnable.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace stagewright {

Result<RankPlan> runnable_rank(const Schedule& schedule, RankId rank, const ComputeDevice& device) {
  Result<RankPlan> plan = plan_rank(schedule, rank);
  if (!plan) {
    return plan;
  }
  for (const Instruction& instruction : plan->instructions) {
    if (instruction.kind != InstructionKind::kCompute) {
      continue;
    }
    if (auto able = device.check(*instruction.operation); !able) {
      return fail(able.error().code,
                  able.error().message,
                  fmt::format("rank {}, {}", rank.value(), describe(*plan, instruction)));
    }
  }
  return plan;
}

Result<void> check_runnable(const Schedule& schedule, const ComputeDevice& device) {
  for (std::size_t program = 0; program < schedule.programs.size(); ++program) {
    const auto user = std::ranges::find_if(schedule.ranks, [program](const RankBinding& binding) {
      return binding.program.index() == program;
    });
    if (user == schedule.ranks.end()) {
      continue;
    }
    if (auto plan = runnable_rank(
            schedule, RankId(static_cast<std::size_t>(user - schedule.ranks.begin())), device);
        !plan) {
      return pass_on(std::move(plan));
    }
  }
  return {};
}

}  // namespace stagewright
