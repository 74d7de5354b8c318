#include "planner/schedules/dual_pipe_order.h"

#include <array>
#include <deque>

#include "planner/schedules/stage_layout.h"

namespace stagewright {
namespace {

enum Phase : std::size_t {
  kNear = 0,
  kFar = 1
};

class DualPipeRow {
 public:
  DualPipeRow(PipelineOrder& order, std::size_t rank, const DualPipeRank& way)
      : actions_(order.ranks[rank]),
        pairs_(order.pairs[rank]),
        stages_{way.near_stage, way.far_stage},
        forwards_{way.near_first, way.far_first},
        backwards_{way.near_first, way.far_first} {}

  void forward(Phase phase) {
    actions_.push_back(compute_action(ActionKind::kForward, stages_[phase], forwards_[phase]++));
  }
  void backward(Phase phase, bool split = false) {
    const Action action = compute_action(split ? ActionKind::kBackwardInput : ActionKind::kBackward,
                                         stages_[phase],
                                         backwards_[phase]++);
    actions_.push_back(action);
    if (split) {
      pending_.push_back(action);
    }
  }
  void weight() {
    Action action = pending_.front();
    pending_.pop_front();
    action.kind = ActionKind::kBackwardWeight;
    actions_.push_back(action);
  }
  void overlapped(Phase forwards, Phase backwards) {
    pairs_.push_back(static_cast<std::int32_t>(actions_.size()));
    forward(forwards);
    backward(backwards);
  }

 private:
  std::vector<Action>& actions_;
  std::vector<std::int32_t>& pairs_;
  std::array<std::int32_t, 2> stages_;
  std::array<std::int32_t, 2> forwards_;  ///< next micro-batch
  std::array<std::int32_t, 2> backwards_;
  std::deque<Action> pending_;  ///< input halves whose weight half is still to come
};

void warm_up(DualPipeRow& row, std::int32_t distance, std::int32_t to_turn) {
  for (std::int32_t i = 0; i < 2 * to_turn; ++i) {
    row.forward(kNear);
  }
  for (std::int32_t i = 0; i <= distance; ++i) {
    row.forward(kNear);
    row.forward(kFar);
  }
  for (std::int32_t i = 0; i < to_turn; ++i) {
    row.backward(kFar, true);
    row.weight();
    row.forward(kFar);
  }
}

void cool_down(DualPipeRow& row, std::int32_t distance, std::int32_t to_turn) {
  for (std::int32_t i = 0; i < to_turn; ++i) {
    row.backward(kFar);
    row.overlapped(kFar, kNear);
  }
  // Half way through, backwards begin to be split; which way first depends on the parity.
  bool split = false;
  for (std::int32_t i = 0; i <= distance; ++i) {
    const bool middle = i == (distance + 1) / 2;
    split = split || (middle && distance % 2 == 1);
    row.backward(kFar, split);
    split = split || middle;
    row.backward(kNear, split);
  }
  for (std::int32_t i = 0; i < to_turn; ++i) {
    row.weight();
    row.backward(kNear, true);
  }
  for (std::int32_t i = 0; i <= distance; ++i) {
    row.weight();
  }
}

}  // namespace

void append_dual_pipe_rank(PipelineOrder& order, std::size_t rank, const DualPipeRank& way) {
  DualPipeRow row(order, rank, way);
  const std::int32_t to_turn = way.ways - way.distance - 1;
  warm_up(row, way.distance, to_turn);
  for (std::int32_t i = 0; i < way.overlapped; ++i) {
    if (i == 0 && to_turn == 0) {
      // Where the ways turn, the backward needs the very forward that it would run beside.
      row.forward(kNear);
      row.backward(kFar);
    } else {
      row.overlapped(kNear, kFar);
    }
    row.overlapped(kFar, kNear);
  }
  cool_down(row, way.distance, to_turn);
}

}  // namespace stagewright
