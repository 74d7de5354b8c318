#include "sim/analysis/list_timing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "core/base/check.h"
#include "sim/analysis/list_waits.h"

namespace stagewright {
namespace {

Duration at(const std::vector<Duration>& costs, StageId stage) {
  SW_CHECK(stage.index() < costs.size(), "a cost for every stage and kind in the list");
  return costs[stage.index()];
}

class ListRun {
 public:
  ListRun(const TokenList& list, const PipelineCosts& costs, std::optional<QueueModel> model)
      : list_(list),
        costs_(costs),
        forward_(table_size()),
        gradient_(table_size()),
        ranks_(list.ranks.size()) {
    for (std::size_t rank = 0; rank < costs.late.size() && rank < ranks_.size(); ++rank) {
      ranks_[rank].clock = costs.late[rank];
    }
    if (model) {
      const auto& transfer = costs.transfer;
      queues_.emplace(list, *model, transfer.empty() ? Duration{} : transfer.front());
    }
    for (const std::vector<ListItem>& items : list.ranks) {
      timing_.items.emplace_back(items.size());
    }
  }

  ListTiming run() {
    // Rounds over the ranks, each as far as it gets; times do not depend on this order.
    bool moved = true;
    while (moved && !timing_.fault) {
      moved = false;
      for (std::size_t rank = 0; rank < ranks_.size() && !timing_.fault; ++rank) {
        while (ranks_[rank].next < list_.ranks[rank].size() && step(rank)) {
          ++ranks_[rank].next;
          moved = true;
        }
      }
    }
    finish();
    return std::move(timing_);
  }

 private:
  struct Rank {
    std::size_t next = 0;
    bool issued = false;  ///< the awaited call at `next`
    Duration clock{};
    Duration busy{};
    std::optional<Duration> first;
    Duration last{};
  };

  [[nodiscard]] std::size_t table_size() const {
    return static_cast<std::size_t>(list_.stages) * static_cast<std::size_t>(list_.micro_batches);
  }
  [[nodiscard]] std::size_t index(std::int32_t stage, MicroBatchId m) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(list_.micro_batches) +
           m.index();
  }

  /// Whether the rank's next item is done, or it has to wait.
  bool step(std::size_t rank) {
    const ListItem& item = list_.ranks[rank][ranks_[rank].next];
    switch (item.kind) {
      case ListItemKind::kMarker:
        pass_by(rank);
        return true;
      case ListItemKind::kTransfers:
        if (queues_ && !transfer(rank, item)) {
          return false;
        }
        pass_by(rank);
        return true;
      case ListItemKind::kCompute:
        return compute(rank, item);
    }
    SW_CHECK(false, "an item of a kind that is listed");
  }

  void pass_by(std::size_t rank) {
    const Duration now = ranks_[rank].clock;
    timing_.items[rank][ranks_[rank].next] = {
        .ready = {now, now}, .posted = now, .start = now, .end = now};
  }

  bool transfer(std::size_t rank, const ListItem& item) {
    Rank& state = ranks_[rank];
    const auto id = static_cast<std::int32_t>(rank);
    if (!state.issued) {
      if (!made_what_it_sends(item)) {
        return false;
      }
      timing_.fault = queues_->issue(id, item, state.clock);
      if (timing_.fault) {
        return false;
      }
      state.issued = true;
    }
    if (item.awaited) {
      const std::optional<Duration> done = queues_->last_call_done(id);
      if (!done) {
        return false;
      }
      state.clock = std::max(state.clock, *done);
    }
    state.issued = false;
    return true;
  }

  /// A send before the computation whose result it sends, in the order of one rank, never starts.
  [[nodiscard]] bool made_what_it_sends(const ListItem& item) const {
    return std::ranges::all_of(item.actions, [this](const Action& action) {
      const std::size_t place = index(action.stage.value(), action.micro_batch);
      return (action.kind != ActionKind::kSendActivation || forward_[place]) &&
             (action.kind != ActionKind::kSendGradient || gradient_[place]);
    });
  }

  bool compute(std::size_t rank, const ListItem& item) {
    Rank& state = ranks_[rank];
    ItemTimes& times = timing_.items[rank][state.next];
    Duration start = state.clock;
    Duration length{};
    for (std::size_t i = 0; i < item.actions.size(); ++i) {
      const std::optional<Duration> ready = ready_at(rank, item.actions[i]);
      if (!ready) {
        return false;
      }
      times.ready[i] = *ready;
      start = std::max(start, *ready);
      length += cost_of(costs_, item.actions[i].kind, item.actions[i].stage);
    }
    if (item.actions.size() > 1) {
      length = Duration(std::llround(static_cast<double>(length.count()) * costs_.overlap));
    }
    times.posted = state.clock;
    times.start = start;
    times.end = start + length;
    state.clock = times.end;
    state.busy += length;
    state.first = state.first.value_or(start);
    state.last = state.clock;
    for (const Action& action : item.actions) {
      const std::size_t place = index(action.stage.value(), action.micro_batch);
      if (action.kind == ActionKind::kForward) {
        forward_[place] = state.clock;
      } else if (action.kind == ActionKind::kBackward ||
                 action.kind == ActionKind::kBackwardInput) {
        gradient_[place] = state.clock;
      }
    }
    return true;
  }

  /// When what an action needs is there; nothing as long as it is not.
  [[nodiscard]] std::optional<Duration> ready_at(std::size_t rank, const Action& action) const {
    const std::int32_t stage = action.stage.value();
    const std::size_t here = index(stage, action.micro_batch);
    switch (action.kind) {
      case ActionKind::kForward:
        return stage == 0 ? Duration{}
                          : from_stage(rank, stage - 1, action, ActionKind::kRecvActivation);
      case ActionKind::kBackward:
      case ActionKind::kBackwardInput:
        if (!forward_[here] || stage + 1 == list_.stages) {
          return forward_[here];
        }
        return from_stage(rank, stage + 1, action, ActionKind::kRecvGradient);
      case ActionKind::kBackwardWeight:
        return gradient_[here];
      case ActionKind::kRecompute:
        return forward_[here];
      case ActionKind::kLoadMicroBatch:
      case ActionKind::kSendActivation:
      case ActionKind::kRecvActivation:
      case ActionKind::kSendGradient:
      case ActionKind::kRecvGradient:
      case ActionKind::kReduceGradients:
      case ActionKind::kGatherParameters:
      case ActionKind::kOptimizerStep:
      case ActionKind::kUpdateParameters:
        break;
    }
    SW_CHECK(false, "an action that computes");
  }

  [[nodiscard]] std::optional<Duration> from_stage(std::size_t rank,
                                                   std::int32_t stage,
                                                   const Action& action,
                                                   ActionKind receive) const {
    const auto& ends = receive == ActionKind::kRecvActivation ? forward_ : gradient_;
    const std::optional<Duration> end = ends[index(stage, action.micro_batch)];
    if (!end ||
        list_.rank_of(StageId(stage), action.micro_batch) == static_cast<std::int32_t>(rank)) {
      return end;
    }
    if (queues_) {
      return queues_->received(
          {.kind = receive, .stage = action.stage, .micro_batch = action.micro_batch});
    }
    const auto& transfer = costs_.transfer;
    if (transfer.empty()) {
      return end;
    }
    return *end + at(transfer, StageId(std::min(stage, action.stage.value())));
  }

  void finish() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const Rank& state = ranks_[rank];
      if (state.next < list_.ranks[rank].size() && !timing_.fault) {
        timing_.fault = ListFault{ListFaultKind::kDeadlock, waiting_text()};
      }
      timing_.makespan = std::max(timing_.makespan, state.last);
      timing_.busy.push_back(state.busy);
      timing_.spans.push_back(state.last - state.first.value_or(Duration{}));
    }
  }

  [[nodiscard]] std::string waiting_text() const {
    ListStandstill standstill{.queues = queues_ ? &*queues_ : nullptr};
    for (const Rank& rank : ranks_) {
      standstill.next.push_back(rank.next);
      standstill.called.push_back(rank.issued);
    }
    return waiting_cycle(list_, standstill);
  }

  const TokenList& list_;
  const PipelineCosts& costs_;
  std::vector<std::optional<Duration>> forward_;
  std::vector<std::optional<Duration>> gradient_;  ///< for the input
  std::vector<Rank> ranks_;
  std::optional<TransferQueues> queues_;
  ListTiming timing_;
};

double lost(Duration busiest, Duration whole) {
  return whole == Duration{} ? 0 : 1 - to_seconds(busiest) / to_seconds(whole);
}

Duration longest(const std::vector<Duration>& times) {
  return times.empty() ? Duration{} : *std::max_element(times.begin(), times.end());
}

}  // namespace

double ListTiming::bubble() const {
  const std::vector<double> shares = idle_share();
  return shares.empty() ? 0
                        : std::accumulate(shares.begin(), shares.end(), 0.0) /
                              static_cast<double>(shares.size());
}
double ListTiming::bubble_rate() const {
  return lost(longest(busy), makespan);
}
double ListTiming::span_bubble_rate() const {
  return lost(longest(busy), longest(spans));
}

std::vector<double> ListTiming::idle_share() const {
  std::vector<double> shares;
  for (const Duration rank : busy) {
    shares.push_back(lost(rank, makespan));
  }
  return shares;
}

ListTiming time_list(const TokenList& list,
                     const PipelineCosts& costs,
                     std::optional<QueueModel> model) {
  return ListRun(list, costs, model).run();
}

}  // namespace stagewright
