#include "planner/lower/order_transfers.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "core/base/check.h"
#include "planner/axes/pipeline.h"
#include "sim/engine/pipeline_graph.h"

namespace stagewright {
namespace {

std::int64_t unit_cost(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
    case ActionKind::kBackwardInput:
    case ActionKind::kBackwardWeight:
    case ActionKind::kRecompute:
      return 1;
    case ActionKind::kBackward:
      return 2;
    case ActionKind::kUpdateParameters:
      return 0;
    case ActionKind::kLoadMicroBatch:
    case ActionKind::kSendActivation:
    case ActionKind::kRecvActivation:
    case ActionKind::kSendGradient:
    case ActionKind::kRecvGradient:
    case ActionKind::kReduceGradients:
    case ActionKind::kGatherParameters:
    case ActionKind::kOptimizerStep:
      break;
  }
  SW_CHECK(false, "a compute action in a pipeline order");
}

bool is_forward(ActionKind kind) {
  return kind == ActionKind::kForward;
}

/// Makes the gradient that the stage before waits for.
bool makes_gradient(ActionKind kind) {
  return kind == ActionKind::kBackward || kind == ActionKind::kBackwardInput;
}

/// Where and when something is made: an action of a rank, and its end.
struct Event {
  std::int32_t action = 0;
  std::int64_t end = 0;
};

class Replay {
 public:
  explicit Replay(const PipelineOrder& order)
      : order_(order),
        next_(order.ranks.size()),
        free_(order.ranks.size()),
        forwards_(size()),
        gradients_(size()) {}

  Result<void> run() {
    bool progress = true;
    while (progress) {
      progress = false;
      for (std::size_t rank = 0; rank < order_.ranks.size(); ++rank) {
        while (next_[rank] < order_.ranks[rank].size() && step(rank)) {
          progress = true;
        }
      }
    }
    for (std::size_t rank = 0; rank < order_.ranks.size(); ++rank) {
      if (next_[rank] < order_.ranks[rank].size()) {
        const Result<PipelineGraph> compiled = compile(order_);
        SW_CHECK(!compiled, "an order whose every rank gets to its end");
        return fail(ErrorCode::kInfeasible,
                    "the order of the schedule cannot run: " + compiled.error().to_string(),
                    "plan:/schedule");
      }
    }
    return {};
  }

  [[nodiscard]] const std::optional<Event>& forward(StageId stage, MicroBatchId m) const {
    return forwards_[index(stage.value(), m)];
  }
  [[nodiscard]] const std::optional<Event>& gradient(StageId stage, MicroBatchId m) const {
    return gradients_[index(stage.value(), m)];
  }

 private:
  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(order_.stages) * static_cast<std::size_t>(order_.micro_batches);
  }
  [[nodiscard]] std::size_t index(std::int32_t stage, MicroBatchId m) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(order_.micro_batches) +
           m.index();
  }

  /// When the input from another stage is there; nothing if it is not yet made.
  [[nodiscard]] std::optional<std::int64_t> input_ready(const Action& action) const {
    const std::int32_t stage = action.stage.value();
    if (is_forward(action.kind) && stage > 0) {
      const auto& made = forwards_[index(stage - 1, action.micro_batch)];
      return made ? std::optional(made->end) : std::nullopt;
    }
    if (makes_gradient(action.kind) && stage + 1 < order_.stages) {
      const auto& made = gradients_[index(stage + 1, action.micro_batch)];
      return made ? std::optional(made->end) : std::nullopt;
    }
    return 0;
  }

  bool step(std::size_t rank) {
    const Action& action = order_.ranks[rank][next_[rank]];
    const std::optional<std::int64_t> ready = input_ready(action);
    if (!ready) {
      return false;
    }
    const std::int64_t end = std::max(free_[rank], *ready) + unit_cost(action.kind);
    free_[rank] = end;
    const Event event{.action = static_cast<std::int32_t>(next_[rank]), .end = end};
    const std::size_t at = index(action.stage.value(), action.micro_batch);
    if (is_forward(action.kind)) {
      forwards_[at] = event;
    } else if (makes_gradient(action.kind)) {
      gradients_[at] = event;
    }
    ++next_[rank];
    return true;
  }

  const PipelineOrder& order_;
  std::vector<std::size_t> next_;
  std::vector<std::int64_t> free_;
  std::vector<std::optional<Event>> forwards_;
  std::vector<std::optional<Event>> gradients_;
};

/// Ties: activations before gradients, each in the direction in which they travel, so that a rank
/// receives before it sends on.
auto sort_key(const Transfer& transfer) {
  const std::int32_t stage = transfer.from.value();
  return std::tuple(
      transfer.ready, transfer.gradient, transfer.gradient ? -stage : stage, transfer.micro_batch);
}

}  // namespace

Result<std::vector<Transfer>> order_transfers(const PipelineOrder& order) {
  Replay replay(order);
  if (Result<void> ran = replay.run(); !ran) {
    return pass_on(std::move(ran));
  }
  std::vector<Transfer> transfers;
  const auto add = [&](bool gradient, std::int32_t from, std::int32_t to, std::int32_t m) {
    const StageId source(from);
    const StageId target(to);
    const MicroBatchId batch(m);
    const std::int32_t sender = pipeline_rank_of(order, source, batch);
    const std::int32_t receiver = pipeline_rank_of(order, target, batch);
    const auto& made = gradient ? replay.gradient(source, batch) : replay.forward(source, batch);
    const auto& used = gradient ? replay.gradient(target, batch) : replay.forward(target, batch);
    if (sender != receiver && made && used) {
      transfers.push_back({.gradient = gradient,
                           .from = source,
                           .to = target,
                           .micro_batch = batch,
                           .sender = sender,
                           .receiver = receiver,
                           .producer = made->action,
                           .consumer = used->action,
                           .ready = made->end});
    }
  };
  for (std::int32_t stage = 0; stage + 1 < order.stages; ++stage) {
    for (std::int32_t m = 0; m < order.micro_batches; ++m) {
      add(false, stage, stage + 1, m);
      add(true, stage + 1, stage, m);
    }
  }
  std::sort(transfers.begin(), transfers.end(), [](const Transfer& a, const Transfer& b) {
    return sort_key(a) < sort_key(b);
  });
  return transfers;
}

}  // namespace stagewright
