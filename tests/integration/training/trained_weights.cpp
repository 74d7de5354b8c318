#include "tests/integration/training/trained_weights.h"

#include <functional>
#include <memory>
#include <numeric>
#include <thread>

#include "core/base/check.h"
#include "runtime/backend_error.h"
#include "runtime/comm/in_process.h"
#include "runtime/compute/cpu_device.h"
#include "runtime/executor/rank_executor.h"
#include "runtime/executor/schedule_world.h"
#include "runtime/trainer/sampled_batches.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

RankWeights weights_of(RankExecutor& executor) {
  RankWeights weights;
  for (const ParameterSlice& slice : executor.plan().program->parameters) {
    std::vector<std::int64_t> shape = slice.global_shape;
    if (slice.shard_axis) {
      shape[static_cast<std::size_t>(*slice.shard_axis)] = slice.extent;
    }
    const auto elements =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    const std::span<const float> values =
        executor.persistent(slice.weight)
            .subspan(static_cast<std::size_t>(slice.weight_offset),
                     static_cast<std::size_t>(elements));
    weights[slice.name].assign(values.begin(), values.end());
  }
  return weights;
}

}  // namespace

std::vector<RankWeights> trained_weights(const Schedule& schedule, std::int32_t steps) {
  const TokenData data = learnable_tokens();
  return trained_weights(schedule, steps, SampledBatches(data, schedule, kTrainingSeed));
}

std::vector<RankWeights> trained_weights(const Schedule& schedule,
                                         std::int32_t steps,
                                         const MicroBatchSource& source) {
  auto world = make_in_process_world(world_of(schedule));
  SW_CHECK(world, world.error().to_string());
  std::vector<RankWeights> weights(schedule.ranks.size());
  std::vector<std::thread> threads;
  for (Endpoint* endpoint : (*world)->endpoints()) {
    threads.emplace_back([&, endpoint] {
      try {
        const RankPlan plan = plan_rank(schedule, endpoint->rank()).value();
        const std::unique_ptr<ComputeDevice> device = make_cpu_device();
        RankExecutor executor(schedule, plan, *endpoint, *device, kTrainingSeed);
        for (std::int32_t step = 1; step <= steps; ++step) {
          executor.step({.number = step, .optimizer = schedule.optimizer}, source, nullptr);
        }
        weights[endpoint->rank().index()] = weights_of(executor);
      } catch (const BackendError& failure) {
        endpoint->abort(failure.error());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  SW_CHECK(!(*world)->failure(), (*world)->failure()->to_string());
  return weights;
}

}  // namespace stagewright
