#include "runtime/trainer/virtual_clock.h"

#include <algorithm>
#include <cstdint>
#include <thread>
#include <utility>

#include "runtime/executor/instruction_graph.h"
#include "runtime/executor/memory_meter.h"

namespace stagewright {

namespace {

/// Memory is taken and given back in issue order, as the rank's thread comes along.
[[nodiscard]] std::vector<StepRecord::MemoryChange> memory_changes(
    const RankPlan& plan, const std::vector<InstructionTimes>& times) {
  MemoryMeter meter(plan);
  TimePoint now{};
  std::vector<StepRecord::MemoryChange> changes = {{now, meter.live()}};
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const Instruction& instruction = plan.instructions[i];
    if (meter.take(instruction)) {
      changes.push_back({on_host(instruction) ? times[i].posted : now, meter.live()});
    }
    if (on_host(instruction)) {
      now = times[i].end;
    }
    if (meter.release(instruction)) {
      changes.push_back({now, meter.live()});
    }
  }
  return changes;
}

[[nodiscard]] TimePoint end_of(const InstructionGraph::Times& times) {
  TimePoint end{};
  for (const std::vector<InstructionTimes>& of_rank : times) {
    for (const InstructionTimes& each : of_rank) {
      end = std::max(end, each.end);
    }
  }
  return end;
}

}  // namespace

bool share_cores(std::size_t ranks) {
  const unsigned cores = std::thread::hardware_concurrency();  // 0: unknown
  return cores > 0 && ranks > cores;
}

std::vector<RankMeasurements> on_virtual_clock(std::span<const RankMeasurements> ranks) {
  std::vector<const RankPlan*> plans;
  std::vector<RankMeasurements> result;
  for (const RankMeasurements& rank : ranks) {
    plans.push_back(rank.plan);
    result.push_back({rank.plan, {}, {}});
  }
  const InstructionGraph graph(plans);
  std::int32_t traced = 0;
  for (std::size_t step = 0; step < ranks.front().steps.size(); ++step) {
    if (ranks.front().steps[step].times.empty()) {
      continue;
    }
    InstructionGraph::Times measured;
    for (const RankMeasurements& rank : ranks) {
      measured.push_back(rank.steps[step].times);
    }
    InstructionGraph::Times times = graph.retimed(measured);
    const TimePoint end = end_of(times);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      std::vector<StepRecord::MemoryChange> memory = memory_changes(*plans[rank], times[rank]);
      result[rank].steps.push_back(
          {traced, TimePoint{}, end, std::move(times[rank]), std::move(memory)});
      if (step < ranks[rank].totals.size()) {
        result[rank].totals.push_back(ranks[rank].totals[step]);
      }
    }
    ++traced;
  }
  return result;
}

}  // namespace stagewright
