#include "planner/schedules/pipeline_order.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/suggest.h"
#include "planner/schedules/registry.h"

namespace stagewright {
namespace {

Result<void> check_parameters(const ScheduleGenerator& generator, const Plan& plan) {
  for (const auto& [name, value] : plan.schedule_parameters) {
    if (!generator.has_parameter(name)) {
      const std::string known = generator.parameters.empty()
                                    ? std::string("; it has none")
                                    : suggestion(name, generator.parameters);
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("schedule '{}' has no parameter '{}'{}", generator.name, name, known),
                  "plan:/schedule_parameters/" + name);
    }
  }
  return {};
}

/// One flush after the other, micro-batches counted on.
PipelineOrder repeat(PipelineOrder order, std::int32_t flushes) {
  const std::int32_t per_flush = order.micro_batches;
  order.micro_batches = per_flush * flushes;
  for (std::size_t rank = 0; rank < order.pairs.size(); ++rank) {
    const std::vector<std::int32_t> once = order.pairs[rank];
    const auto actions = static_cast<std::int32_t>(order.ranks[rank].size());
    for (std::int32_t flush = 1; flush < flushes; ++flush) {
      for (const std::int32_t place : once) {
        order.pairs[rank].push_back(place + flush * actions);
      }
    }
  }
  for (auto& rank : order.ranks) {
    const std::vector<Action> once = rank;
    rank.reserve(once.size() * static_cast<std::size_t>(flushes));
    for (std::int32_t flush = 1; flush < flushes; ++flush) {
      for (Action action : once) {
        action.micro_batch = MicroBatchId(action.micro_batch.value() + flush * per_flush);
        rank.push_back(action);
      }
    }
  }
  const std::vector<std::int32_t> copies = order.copy_of;
  for (std::int32_t flush = 1; flush < flushes; ++flush) {
    order.copy_of.insert(order.copy_of.end(), copies.begin(), copies.end());
  }
  return order;
}

}  // namespace

Result<PipelineOrder> pipeline_order(const Plan& plan) {
  SW_CHECK(plan.micro_batches % plan.flushes == 0, "micro-batches divisible by flushes");
  Result<ScheduleGenerator> generator = find_schedule(plan.schedule);
  if (!generator) {
    return pass_on(std::move(generator));
  }
  if (Result<void> checked = check_parameters(*generator, plan); !checked) {
    return pass_on(std::move(checked));
  }
  const PipelineShape shape{.ranks = plan.pp(),
                            .virtual_stages = plan.virtual_stages,
                            .micro_batches = plan.micro_batches / plan.flushes,
                            .parameters = plan.schedule_parameters};
  Result<PipelineOrder> order = generator->generate(shape);
  if (!order) {
    return order;
  }
  return repeat(*std::move(order), plan.flushes);
}

}  // namespace stagewright
