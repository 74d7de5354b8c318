#include "cli/schedule_to_run.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/file.h"
#include "planner/lower/lower.h"

namespace stagewright {
namespace {

/// Whether a schedule file goes with the plan: the same model, and the same layout as the plan's
/// own schedule says it; the order of actions may be another.
Result<void> check_made_for(const Schedule& schedule,
                            const Schedule& lowered,
                            const std::string& plan,
                            const std::string& file) {
  if (schedule.model_hash != lowered.model_hash) {
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format("was made for model {} ({}), the plan's is {} ({}); lower the plan anew "
                    "with `stagewright simulate --schedule-out`",
                    schedule.model_name,
                    schedule.model_hash,
                    lowered.model_name,
                    lowered.model_hash),
        file);
  }
  if (schedule.ranks.size() == lowered.ranks.size() && schedule.stages == lowered.stages &&
      schedule.replicas == lowered.replicas && schedule.micro_batches == lowered.micro_batches &&
      schedule.micro_batch_size == lowered.micro_batch_size &&
      schedule.sequence == lowered.sequence && schedule.sequence_parts == lowered.sequence_parts) {
    return {};
  }
  return fail(ErrorCode::kInvalidInput,
              fmt::format("was made for another plan: {} ranks, {} stages, {} replicas, {} x {} "
                          "micro-batches of {} tokens in {} parts, {} has {} ranks, {} stages, {} "
                          "replicas, {} x {} of {} in {}; lower the plan anew with `stagewright "
                          "simulate --schedule-out`",
                          schedule.ranks.size(),
                          schedule.stages,
                          schedule.replicas,
                          schedule.micro_batches,
                          schedule.micro_batch_size,
                          schedule.sequence,
                          schedule.sequence_parts,
                          plan,
                          lowered.ranks.size(),
                          lowered.stages,
                          lowered.replicas,
                          lowered.micro_batches,
                          lowered.micro_batch_size,
                          lowered.sequence,
                          lowered.sequence_parts),
              file);
}

}  // namespace

Result<Schedule> schedule_to_run(const PlanInputs& inputs,
                                 const std::string& plan,
                                 const std::string& schedule_file) {
  auto lowered = lower(inputs.model, inputs.cluster, inputs.plan);
  if (!lowered) {
    return tl::unexpected<Error>(in_plan_file(std::move(lowered).error(), plan));
  }
  if (schedule_file.empty()) {
    return lowered;
  }
  auto text = read_file(schedule_file);
  if (!text) {
    return pass_on(std::move(text));
  }
  auto schedule = parse_schedule(*text, schedule_file);
  if (!schedule) {
    return schedule;
  }
  if (auto fits = check_made_for(*schedule, *lowered, plan, schedule_file); !fits) {
    return pass_on(std::move(fits));
  }
  return schedule;
}

}  // namespace stagewright
