// How a replica's sequences are divided.

#include "planner/lower/check_plan.h"
#include "planner/search/dimensions/registry.h"

namespace stagewright {

Dimension micro_batch_dimension() {
  return {
      .name = "micro-batch",
      .help = "Sequences of a micro-batch",
      .least = 1,
      .values =
          [](const SpaceJob& job, const PlanPoint& point, std::vector<std::int64_t>& out) {
            const std::int64_t batch = job.global_batch / point.dp;
            for (std::int64_t size = 1; size <= batch; ++size) {
              if (size > kMostMicroBatchTokens / job.sequence) {
                return;
              }
              if (batch % size == 0 && batch / size <= kMostMicroBatches) {
                out.push_back(size);
              }
            }
          },
      .get = [](const PlanPoint& point) { return std::int64_t{point.micro_batch_size}; },
      .set = [](PlanPoint& point,
                std::int64_t value) { point.micro_batch_size = static_cast<std::int32_t>(value); },
      .reads = [](const SpaceJob&,
                  const PlanPoint& point) { return static_cast<std::uint64_t>(point.dp); }};
}

Dimension micro_batches_dimension() {
  return {.name = "micro-batches",
          .help = "Micro-batches of a replica in a step",
          .least = 1,
          .values =
              [](const SpaceJob& job, const PlanPoint& point, std::vector<std::int64_t>& out) {
                out.push_back(job.global_batch / point.dp / point.micro_batch_size);
              },
          .get = [](const PlanPoint& point) { return std::int64_t{point.micro_batches}; },
          .set = [](PlanPoint& point,
                    std::int64_t value) { point.micro_batches = static_cast<std::int32_t>(value); },
          .reads =
              [](const SpaceJob&, const PlanPoint& point) {
                return static_cast<std::uint64_t>(point.dp) *
                       static_cast<std::uint64_t>(point.micro_batch_size);
              }};
}

}  // namespace stagewright
