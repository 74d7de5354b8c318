#include "planner/schedules/v_memory.h"

#include <algorithm>
#include <array>

#include "planner/schedules/shape_rules.h"
#include "planner/schedules/stage_layout.h"
#include "planner/schedules/timed_actions.h"

namespace stagewright {
namespace {

/// F, I and W of two stages.
constexpr std::int64_t kPeriod = 6;

/// The four waves of a block in their order: forward down and up the V, backward-input down and up.
/// `slope` is the slots from rank to rank; `phase` the slot modulo the period at which a wave would
/// pass rank 0.  The phases are such that the waves never meet on a rank, for any number of ranks.
struct Block {
  std::array<std::int64_t, 4> slope;
  std::array<std::int64_t, 4> phase;
};
constexpr Block kMin{.slope = {1, 1, 1, 1}, .phase = {0, 1, 2, 3}};
constexpr Block kHalf{.slope = {2, 1, 2, 1}, .phase = {0, 2, 3, 4}};

std::int64_t next_in_phase(std::int64_t earliest, std::int64_t phase) {
  const std::int64_t rest = (phase - earliest) % kPeriod;
  return earliest + (rest < 0 ? rest + kPeriod : rest);
}

/// The slots of the waves on a rank for micro-batch 0: each starts, at its first rank, after the
/// wave before has ended there.
std::array<std::int64_t, 4> wave_slots(const Block& block, std::int32_t ranks, std::int32_t rank) {
  std::array<std::int64_t, 4> slots{};
  std::int64_t earliest = 0;
  for (std::size_t wave = 0; wave < slots.size(); ++wave) {
    const std::int64_t across = block.slope[wave] * (ranks - 1);
    const bool down = wave % 2 == 0;
    // An upward wave starts at the last rank; its phase is told where it passes rank 0.
    const std::int64_t first = down ? next_in_phase(earliest, block.phase[wave])
                                    : next_in_phase(earliest + across, block.phase[wave]) - across;
    slots[wave] = first + block.slope[wave] * (down ? rank : ranks - 1 - rank);
    earliest = first + across + 1;
  }
  return slots;
}

/// The weight halves take the two slots of the period that the waves leave, each as soon as it can:
/// first of the upper stage, whose backward comes first, unless the other way round is shorter.
std::array<std::int64_t, 2> weight_slots(const std::array<std::int64_t, 4>& waves) {
  std::array<std::int64_t, 2> free{};
  std::size_t found = 0;
  for (std::int64_t phase = 0; phase < kPeriod && found < free.size(); ++phase) {
    if (std::none_of(waves.begin(), waves.end(), [phase](std::int64_t slot) {
          return slot % kPeriod == phase;
        })) {
      free[found++] = phase;
    }
  }
  const auto place = [&](std::size_t upper) {
    return std::array{next_in_phase(waves[2] + 1, free[upper]),
                      next_in_phase(waves[3] + 1, free[1 - upper])};
  };
  const auto one = place(0);
  const auto other = place(1);
  return one[0] + one[1] <= other[0] + other[1] ? one : other;
}

bool accepts(const PipelineShape& shape) {
  return shape.virtual_stages == 2;
}

Result<PipelineOrder> generate(const PipelineShape& shape,
                               const Block& block,
                               std::string_view name) {
  ShapeRules rules(shape, name);
  add_virtual_stages_rule(rules, 2);
  if (Result<void> checked = rules.check(accepts); !checked) {
    return pass_on(std::move(checked));
  }
  PipelineOrder order = wave_layout(shape);
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
    const std::int32_t lower = rank;
    const std::int32_t upper = 2 * shape.ranks - 1 - rank;
    const std::array<std::int64_t, 4> waves = wave_slots(block, shape.ranks, rank);
    const std::array<std::int64_t, 2> weights = weight_slots(waves);
    std::vector<TimedAction> timed;
    for (std::int32_t m = 0; m < shape.micro_batches; ++m) {
      const std::int64_t later = kPeriod * m;
      timed.push_back({waves[0] + later, compute_action(ActionKind::kForward, lower, m)});
      timed.push_back({waves[1] + later, compute_action(ActionKind::kForward, upper, m)});
      timed.push_back({waves[2] + later, compute_action(ActionKind::kBackwardInput, upper, m)});
      timed.push_back({waves[3] + later, compute_action(ActionKind::kBackwardInput, lower, m)});
      timed.push_back({weights[0] + later, compute_action(ActionKind::kBackwardWeight, upper, m)});
      timed.push_back({weights[1] + later, compute_action(ActionKind::kBackwardWeight, lower, m)});
    }
    order.ranks[static_cast<std::size_t>(rank)] = by_time(std::move(timed));
  }
  return order;
}

}  // namespace

ScheduleGenerator v_half_schedule() {
  return {.name = "v-half",
          .summary = "split backward on a V with half the memory of 1F1B",
          .figures = {.bubble = "about 0.6 of 1F1B's",
                      .peak = "P+2 (P even), P+1 (P odd), until W",
                      .weights = "1",
                      .constraints = "V = 2"},
          .parameters = {},
          .default_virtual_stages = 2,
          .splits_backward = true,
          .layout = wave_layout,
          .accepts = accepts,
          .generate = [](const PipelineShape& shape) { return generate(shape, kHalf, "v-half"); }};
}

ScheduleGenerator v_min_schedule() {
  return {.name = "v-min",
          .summary = "split backward on a V with the least memory",
          .figures = {.bubble = "about 0.7 of 1F1B's",
                      .peak = "about 2P/3+2, until W",
                      .weights = "1",
                      .constraints = "V = 2"},
          .parameters = {},
          .default_virtual_stages = 2,
          .splits_backward = true,
          .layout = wave_layout,
          .accepts = accepts,
          .generate = [](const PipelineShape& shape) { return generate(shape, kMin, "v-min"); }};
}

}  // namespace stagewright
