#include "sim/engine/pipeline_timing.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"

namespace stagewright {
namespace {

/// Where an action stands in the order.
struct Place {
  NodeIndex node = 0;
  std::int32_t rank = 0;
};

std::string place_text(std::size_t rank, const Action& action) {
  return fmt::format("rank {}, action {}", rank, to_string(action));
}

/// The actions of an order by what they do.
class ActionIndex {
 public:
  explicit ActionIndex(const PipelineOrder& order) : order_(order) {
    for (auto& table : tables_) {
      table.resize(static_cast<std::size_t>(order.stages) *
                   static_cast<std::size_t>(order.micro_batches));
    }
  }

  [[nodiscard]] Result<void> fill() {
    NodeIndex node = 0;
    for (std::size_t rank = 0; rank < order_.ranks.size(); ++rank) {
      for (const Action& action : order_.ranks[rank]) {
        if (auto added = add(action, rank, node++); !added) {
          return added;
        }
      }
    }
    return {};
  }

  [[nodiscard]] std::optional<Place> find(ActionKind kind,
                                          std::int32_t stage,
                                          MicroBatchId m) const {
    return table(kind)[slot(stage, m)];
  }
  /// Whoever makes the gradient for the stage before.
  [[nodiscard]] std::optional<Place> input_gradient(std::int32_t stage, MicroBatchId m) const {
    const auto whole = find(ActionKind::kBackward, stage, m);
    return whole ? whole : find(ActionKind::kBackwardInput, stage, m);
  }

 private:
  [[nodiscard]] std::vector<std::optional<Place>>& table(ActionKind kind) {
    return tables_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] const std::vector<std::optional<Place>>& table(ActionKind kind) const {
    return tables_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] std::size_t slot(std::int32_t stage, MicroBatchId m) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(order_.micro_batches) +
           m.index();
  }

  [[nodiscard]] Result<void> add(const Action& action, std::size_t rank, NodeIndex node) {
    if (!is_compute(action.kind)) {
      return fail(ErrorCode::kInvalidInput,
                  "a pipeline order holds forward, backward and recompute actions only",
                  place_text(rank, action));
    }
    if (action.stage.value() < 0 || action.stage.value() >= order_.stages ||
        action.micro_batch.value() < 0 || action.micro_batch.value() >= order_.micro_batches) {
      return fail(
          ErrorCode::kInvalidInput,
          fmt::format(
              "the order has {} stages and {} micro-batches", order_.stages, order_.micro_batches),
          place_text(rank, action));
    }
    auto& entry = table(action.kind)[slot(action.stage.value(), action.micro_batch)];
    if (entry) {
      return fail(ErrorCode::kInvalidInput, "the action stands twice", place_text(rank, action));
    }
    entry = Place{node, static_cast<std::int32_t>(rank)};
    return {};
  }

  const PipelineOrder& order_;
  std::array<std::vector<std::optional<Place>>, kActionKindCount> tables_;
};

/// What an action needs, and over which stage border it comes.
struct Need {
  std::optional<Place> from;
  std::optional<StageId> border;  ///< lower of the two stages
  const char* what = "";
};

void add_gradient_needs(const ActionIndex& index,
                        const PipelineOrder& order,
                        const Action& action,
                        std::vector<Need>& needs) {
  const std::int32_t stage = action.stage.value();
  const MicroBatchId m = action.micro_batch;
  needs.push_back({index.find(ActionKind::kForward, stage, m), {}, "its forward"});
  if (const auto again = index.find(ActionKind::kRecompute, stage, m)) {
    needs.push_back({again, {}, "its recomputation"});
  }
  if (stage + 1 < order.stages) {
    needs.push_back(
        {index.input_gradient(stage + 1, m), action.stage, "the backward of the stage after"});
  }
}

std::vector<Need> needs_of(const ActionIndex& index,
                           const PipelineOrder& order,
                           const Action& action) {
  const std::int32_t stage = action.stage.value();
  const MicroBatchId m = action.micro_batch;
  std::vector<Need> needs;
  if (action.kind == ActionKind::kForward && stage > 0) {
    needs.push_back({index.find(ActionKind::kForward, stage - 1, m),
                     StageId(stage - 1),
                     "the forward of the stage before"});
  } else if (action.kind == ActionKind::kBackward || action.kind == ActionKind::kBackwardInput) {
    add_gradient_needs(index, order, action, needs);
  } else if (action.kind == ActionKind::kBackwardWeight) {
    needs.push_back({index.find(ActionKind::kBackwardInput, stage, m), {}, "its input half"});
  } else if (action.kind == ActionKind::kRecompute) {
    needs.push_back({index.find(ActionKind::kForward, stage, m), {}, "its forward"});
  }
  return needs;
}

/// The costs of a kind of step, by stage.
const std::vector<Duration>& costs_of(const PipelineCosts& costs, ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return costs.forward;
    case ActionKind::kBackward:
      return costs.backward;
    case ActionKind::kBackwardInput:
      return costs.backward_input;
    case ActionKind::kBackwardWeight:
      return costs.backward_weight;
    case ActionKind::kRecompute:
      return costs.recompute;
    case ActionKind::kSendActivation:
      return costs.transfer;
    case ActionKind::kLoadMicroBatch:
    case ActionKind::kRecvActivation:
    case ActionKind::kSendGradient:
    case ActionKind::kRecvGradient:
    case ActionKind::kReduceGradients:
    case ActionKind::kGatherParameters:
    case ActionKind::kOptimizerStep:
      break;
  }
  SW_CHECK(false, "a step that make() lets in");
  return costs.forward;
}

/// A cycle among actions and transfers in words: only the actions are named.
std::string cycle_text(const std::vector<NodeIndex>& cycle, const PipelineOrder& order) {
  std::string text;
  for (const NodeIndex node : cycle) {
    auto left = static_cast<std::size_t>(node);
    for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
      if (left < order.ranks[rank].size()) {
        text += (text.empty() ? "" : " -> ") + place_text(rank, order.ranks[rank][left]);
        break;
      }
      left -= order.ranks[rank].size();
    }
  }
  return text;
}

}  // namespace

/// Builds the graph of an order.
class PipelineTimer::Maker {
 public:
  explicit Maker(const PipelineOrder& order) : order_(order), index_(order) {}

  [[nodiscard]] Result<PipelineTimer> run() && {
    if (auto filled = index_.fill(); !filled) {
      return pass_on(std::move(filled));
    }
    add_actions();
    for (std::size_t rank = 0; rank < order_.ranks.size(); ++rank) {
      for (std::size_t i = 0; i < order_.ranks[rank].size(); ++i) {
        if (auto connected = connect(rank, i); !connected) {
          return pass_on(std::move(connected));
        }
      }
    }
    TimingGraphBuilder::Built built = builder_.build();
    if (!built.cycle.empty()) {
      return fail(ErrorCode::kInfeasible,
                  "these actions wait for each other for ever: " + cycle_text(built.cycle, order_));
    }
    timer_.graph_ = std::move(built.graph);
    return std::move(timer_);
  }

 private:
  void add_actions() {
    timer_.rank_begin_.push_back(0);
    for (const std::vector<Action>& actions : order_.ranks) {
      for (const Action& action : actions) {
        builder_.add_node();
        timer_.steps_.push_back({action.kind, action.stage});
      }
      timer_.rank_begin_.push_back(static_cast<std::int32_t>(builder_.nodes()));
    }
  }

  [[nodiscard]] Result<void> connect(std::size_t rank, std::size_t i) {
    const Action& action = order_.ranks[rank][i];
    const NodeIndex node = timer_.rank_begin_[rank] + static_cast<NodeIndex>(i);
    if (i > 0) {
      builder_.add_edge(node - 1, node, EdgeKind::kStream);
    }
    for (const Need& need : needs_of(index_, order_, action)) {
      if (!need.from) {
        return fail(ErrorCode::kInvalidInput,
                    fmt::format("{} stands nowhere in the order", need.what),
                    place_text(rank, action));
      }
      const bool moves = need.border && need.from->rank != static_cast<std::int32_t>(rank);
      builder_.add_edge(moves ? add_transfer(need.from->node, *need.border) : need.from->node,
                        node,
                        EdgeKind::kData);
    }
    return {};
  }

  /// A node behind `from` for the message over a stage border.
  NodeIndex add_transfer(NodeIndex from, StageId border) {
    const NodeIndex transfer = builder_.add_node();
    timer_.steps_.push_back({ActionKind::kSendActivation, border});
    builder_.add_edge(from, transfer, EdgeKind::kData);
    return transfer;
  }

  const PipelineOrder& order_;
  ActionIndex index_;
  TimingGraphBuilder builder_;
  PipelineTimer timer_;
};

Result<PipelineTimer> PipelineTimer::make(const PipelineOrder& order) {
  return Maker(order).run();
}

void PipelineTimer::fill(const PipelineCosts& costs, Scratch& scratch) const {
  scratch.durations.assign(steps_.size(), Duration{});
  scratch.starts.resize(steps_.size());
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const std::vector<Duration>& by_stage = costs_of(costs, step.kind);
    if (step.kind == ActionKind::kSendActivation && by_stage.empty()) {
      continue;  // transfers take no time
    }
    SW_CHECK(step.stage.index() < by_stage.size(), "a cost for every stage and kind in the order");
    scratch.durations[i] = by_stage[step.stage.index()];
  }
  time_actions(graph_, scratch.durations, scratch.starts);
}

Duration PipelineTimer::makespan(const PipelineCosts& costs, Scratch& scratch) const {
  fill(costs, scratch);
  Duration last{};
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    last = std::max(last, scratch.starts[i] + scratch.durations[i]);
  }
  return last;
}

PipelineTimer::Timing PipelineTimer::time(const PipelineCosts& costs) const {
  Scratch scratch;
  Timing timing;
  timing.makespan = makespan(costs, scratch);
  for (std::size_t rank = 0; rank + 1 < rank_begin_.size(); ++rank) {
    std::vector<Duration> start;
    std::vector<Duration> end;
    Duration busy{};
    for (auto i = static_cast<std::size_t>(rank_begin_[rank]);
         i < static_cast<std::size_t>(rank_begin_[rank + 1]);
         ++i) {
      start.push_back(scratch.starts[i]);
      end.push_back(scratch.starts[i] + scratch.durations[i]);
      busy += scratch.durations[i];
    }
    timing.start.push_back(std::move(start));
    timing.end.push_back(std::move(end));
    timing.busy.push_back(busy);
  }
  return timing;
}

double PipelineTimer::Timing::bubble() const {
  if (makespan == Duration{} || busy.empty()) {
    return 0;
  }
  const Duration sum = std::accumulate(busy.begin(), busy.end(), Duration{});
  return 1 - to_seconds(sum) / (to_seconds(makespan) * static_cast<double>(busy.size()));
}

}  // namespace stagewright
