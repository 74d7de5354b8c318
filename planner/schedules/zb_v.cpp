#include "planner/schedules/zb_v.h"

#include <algorithm>
#include <array>

#include "planner/schedules/shape_rules.h"
#include "planner/schedules/stage_layout.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 1> kAliases{"zbv"};

/// Counts the micro-batches of each of a rank's two stages and leaves out those that the step does
/// not have.
class VRow {
 public:
  VRow(std::vector<Action>& actions, const PipelineShape& shape, std::int32_t rank)
      : actions_(actions), shape_(shape), stages_{rank, 2 * shape.ranks - 1 - rank} {}

  void run(ActionKind kind, std::size_t chunk) {
    const std::int32_t m = next(kind, chunk)++;
    if (m < shape_.micro_batches) {
      actions_.push_back(compute_action(kind, stages_[chunk], m));
    }
  }
  void run_all(std::size_t chunk) {
    run(ActionKind::kForward, chunk);
    run_backward(chunk);
  }
  void run_backward(std::size_t chunk) {
    run(ActionKind::kBackwardInput, chunk);
    run(ActionKind::kBackwardWeight, chunk);
  }
  [[nodiscard]] std::int32_t done(ActionKind kind, std::size_t chunk) { return next(kind, chunk); }

 private:
  std::int32_t& next(ActionKind kind, std::size_t chunk) {
    const std::size_t row = kind == ActionKind::kForward         ? 0
                            : kind == ActionKind::kBackwardInput ? 1
                                                                 : 2;
    return next_[row][chunk];
  }

  std::vector<Action>& actions_;
  const PipelineShape& shape_;
  std::array<std::int32_t, 2> stages_;
  std::array<std::array<std::int32_t, 2>, 3> next_{};  ///< [F, I, W][chunk]
};

void fill_rank(VRow& row, const PipelineShape& shape, std::int32_t rank) {
  constexpr std::size_t kDown = 0;
  constexpr std::size_t kUp = 1;
  const std::int32_t from_turn = shape.ranks - rank;
  // The pattern needs that many; with fewer the surplus is left out.
  const std::int32_t micro_batches = std::max(2 * shape.ranks - 1, shape.micro_batches);
  for (std::int32_t i = 0; i < 2 * from_turn - 1; ++i) {
    row.run(ActionKind::kForward, kDown);
  }
  for (std::int32_t i = 0; i < rank; ++i) {
    row.run(ActionKind::kForward, kUp);
    row.run(ActionKind::kForward, kDown);
  }
  for (std::int32_t i = 0; i < from_turn; ++i) {
    row.run_all(kUp);
  }
  while (row.done(ActionKind::kForward, kUp) < row.done(ActionKind::kForward, kDown) ||
         row.done(ActionKind::kForward, kDown) < micro_batches) {
    if (row.done(ActionKind::kForward, kDown) < micro_batches) {
      row.run(ActionKind::kForward, kDown);
    }
    row.run_backward(kDown);
    row.run_all(kUp);
  }
  for (std::int32_t i = 0; i < rank; ++i) {
    row.run(ActionKind::kBackwardInput, kDown);
    row.run(ActionKind::kBackwardInput, kUp);
  }
  for (std::int32_t i = 0; i < from_turn; ++i) {
    row.run_backward(kDown);
  }
  for (const std::size_t chunk : {kUp, kDown}) {
    while (row.done(ActionKind::kBackwardWeight, chunk) <
           row.done(ActionKind::kBackwardInput, chunk)) {
      row.run(ActionKind::kBackwardWeight, chunk);
    }
  }
}

bool accepts(const PipelineShape& shape) {
  return shape.virtual_stages == 2;
}

Result<PipelineOrder> generate(const PipelineShape& shape) {
  ShapeRules rules(shape, "zb-v");
  add_virtual_stages_rule(rules, 2);
  if (Result<void> checked = rules.check(accepts); !checked) {
    return pass_on(std::move(checked));
  }
  PipelineOrder order = wave_layout(shape);
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
    VRow row(order.ranks[static_cast<std::size_t>(rank)], shape, rank);
    fill_rank(row, shape, rank);
  }
  return order;
}

}  // namespace

ScheduleGenerator zb_v_schedule() {
  return {.name = "zb-v",
          .aliases = kAliases,
          .summary = "split backward on a V; no bubble inside a rank at the memory of 1F1B",
          .figures = {.bubble = "0 as span; (P-1)F as makespan; more if M < 2P-1",
                      .peak = "2P, until W",
                      .weights = "1",
                      .constraints = "V = 2"},
          .parameters = {},
          .default_virtual_stages = 2,
          .splits_backward = true,
          .layout = wave_layout,
          .accepts = accepts,
          .generate = generate};
}

}  // namespace stagewright
