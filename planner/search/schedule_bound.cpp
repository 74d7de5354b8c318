#include "planner/search/schedule_bound.h"

#include <algorithm>
#include <utility>

#include "planner/schedules/registry.h"
#include "planner/search/least_exposed.h"
#include "sim/engine/pipeline_graph.h"
#include "sim/engine/sweep_graph.h"

namespace stagewright {
namespace {

/// Orders beyond this take longer to time than they save.
constexpr std::int64_t kMostActions = 250'000;

bool is_backward(ActionKind kind) {
  return kind == ActionKind::kBackward || kind == ActionKind::kBackwardInput;
}

/// The gradient leaves a stage before its backward ends, and is needed after the next has begun.
Duration lag_of(const PipelineWork& work, const StageCosts& stages, bool has_whole_backwards) {
  if (!work.border) {
    return {};
  }
  const auto shortened = [&](const PipelineWork::Part& part) {
    if (!is_backward(part.kind)) {
      return stages.border;
    }
    const std::size_t s = part.stage.index();
    const bool whole = part.kind == ActionKind::kBackward;
    // A half may follow the whole backward of the stage behind.
    return stages.border - (whole ? stages.leading[s] : stages.input_leading[s]) -
           (has_whole_backwards ? stages.trailing[s + 1] : Duration{});
  };
  Duration lag = shortened(*work.part);
  if (work.beside) {
    lag = std::min(lag, shortened(*work.beside));
  }
  return lag;
}

/// By index of the order's graph: reductions that hold up whatever comes next on the rank.
std::vector<Duration> reductions_behind(const OrderCache::Entry& entry, const StageCosts& stages) {
  const PipelineGraph& graph = entry.timer.graph();
  std::vector<Duration> holds(graph.graph.size());
  if (stages.reduction.empty()) {
    return holds;
  }
  std::vector<bool> reduced(stages.reduction.size(), false);
  for (std::size_t rank = 0; rank < graph.ranks(); ++rank) {
    const std::vector<Action>& actions = entry.order.ranks[rank];
    const auto indices = graph.of_rank(rank);
    for (std::size_t i = actions.size(); i-- > 0;) {
      const std::size_t s = actions[i].stage.index();
      if (completes_gradients(actions[i].kind) && (!reduced[s] || stages.reduces_often)) {
        reduced[s] = true;
        holds[static_cast<std::size_t>(indices[i])] = stages.reduction[s];
      }
    }
  }
  return holds;
}

Duration time_of(const OrderCache::Entry& entry, const StageCosts& stages) {
  const PipelineGraph& graph = entry.timer.graph();
  const PipelineCosts costs{.forward = stages.forward,
                            .backward = stages.backward,
                            .backward_input = stages.backward_input,
                            .backward_weight = stages.backward_weight,
                            .recompute = stages.leading};
  std::vector<Duration> prices;
  price(graph, costs, prices);
  std::vector<Duration> lags;
  lags.reserve(graph.works.size());
  for (const PipelineWork& work : graph.works) {
    lags.push_back(work.part ? lag_of(work, stages, entry.has_whole_backwards)
                             : std::min(Duration{}, stages.least_lag));
  }
  const std::vector<Duration> holds = reductions_behind(entry, stages);
  std::vector<Duration> ends(graph.graph.size());
  sweep_by_class(graph.graph, lags, prices, holds, ends);
  Duration last{};
  for (std::size_t rank = 0; rank < graph.ranks(); ++rank) {
    const auto actions = graph.of_rank(rank);
    if (!actions.empty()) {
      const auto end = static_cast<std::size_t>(actions.back());
      last = std::max(last, ends[end] + std::max(stages.behind[rank], holds[end]));
    }
  }
  return stretched(last + stages.update, stages.stretch);
}

Bytes memory_of(const OrderCache::Entry& entry, const StageCosts& stages) {
  Bytes fullest{};
  for (std::size_t rank = 0; rank < entry.order.ranks.size(); ++rank) {
    Bytes held{};
    Bytes most{};
    for (const Action& action : entry.order.ranks[rank]) {
      const std::size_t s = action.stage.index();
      if (action.kind == ActionKind::kForward) {
        held += stages.saved[s];
      } else if (is_backward(action.kind)) {
        most = std::max(most, held + stages.working[s]);
        held -= stages.saved[s];
      }
      if (action.kind == ActionKind::kBackwardInput) {
        held += stages.saved_for_weight[s] + stages.pending[s];
      } else if (action.kind == ActionKind::kBackwardWeight) {
        held -= stages.saved_for_weight[s] + stages.pending[s];
      }
      most = std::max(most, held);
    }
    fullest = std::max(fullest, most + stages.held[rank]);
  }
  return fullest;
}

}  // namespace

const OrderCache::Entry* OrderCache::find(const PlanPoint& point) {
  if (std::int64_t{2} * point.stages() * point.micro_batches > kMostActions) {
    return nullptr;
  }
  const Key key{point.schedule, point.pp, point.virtual_stages, point.micro_batches};
  Slot* slot = nullptr;
  {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Slot>& held = slots_[key];
    if (!held) {
      held = std::make_unique<Slot>();
    }
    slot = held.get();
  }
  std::call_once(slot->once, [&] {
    const ScheduleGenerator& generator =
        schedule_generators()[static_cast<std::size_t>(point.schedule)];
    auto order = generator.generate({.ranks = point.pp,
                                     .virtual_stages = point.virtual_stages,
                                     .micro_batches = point.micro_batches,
                                     .parameters = {}});
    if (!order) {
      return;
    }
    // A pair's forward leaves before its backward is done, and its backward may wait for a gradient
    // that the forward does not: as one piece of work it would be late for both.
    order->pairs.clear();
    auto timer = PipelineTimer::make(*order);
    if (timer) {
      const auto is_whole = [](const Action& action) {
        return action.kind == ActionKind::kBackward;
      };
      const bool has_whole = std::ranges::any_of(order->ranks, [&](const auto& actions) {
        return std::ranges::any_of(actions, is_whole);
      });
      slot->entry = std::make_unique<Entry>(Entry{*std::move(order), *std::move(timer), has_whole});
    }
  });
  return slot->entry.get();
}

Bound bound_by_order(const OrderCache::Entry& entry,
                     const StageCosts& stages,
                     const Bound& closed_form) {
  return {.time = std::max(closed_form.time, time_of(entry, stages)),
          .memory = std::max(closed_form.memory, memory_of(entry, stages))};
}

}  // namespace stagewright
