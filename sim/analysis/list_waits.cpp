#include "sim/analysis/list_waits.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/schedule/channels.h"
#include "core/schedule/wait_cycle.h"

namespace stagewright {
namespace {

/// An item of a rank, or one transfer of a call that has been made.
struct Place {
  std::int32_t rank = 0;
  std::int32_t item = 0;
  std::int32_t transfer = -1;  ///< of the item's actions
  friend auto operator<=>(const Place&, const Place&) = default;
};

class WaitGraph {
 public:
  WaitGraph(const TokenList& list, const ListStandstill& standstill)
      : list_(list), standstill_(standstill) {
    for (std::size_t rank = 0; rank < list.ranks.size(); ++rank) {
      for (std::size_t i = 0; i < list.ranks[rank].size(); ++i) {
        const std::vector<Action>& actions = list.ranks[rank][i].actions;
        for (std::size_t a = 0; a < actions.size(); ++a) {
          places_.emplace(key(actions[a]),
                          Place{static_cast<std::int32_t>(rank),
                                static_cast<std::int32_t>(i),
                                static_cast<std::int32_t>(a)});
        }
      }
    }
    if (standstill.queues != nullptr) {
      for (const TransferQueues::Waiting& waiting : standstill.queues->waiting()) {
        const Place place = place_of(waiting.action);
        called_.emplace(place, waiting);
        if (waiting.open) {
          open_[waiting.queue].push_back(place);
        }
      }
    }
  }

  /// Where each rank stands that is not done.
  [[nodiscard]] std::vector<Place> stands() const {
    std::vector<Place> all;
    for (std::size_t rank = 0; rank < list_.ranks.size(); ++rank) {
      if (standstill_.next[rank] < list_.ranks[rank].size()) {
        all.push_back({static_cast<std::int32_t>(rank),
                       static_cast<std::int32_t>(standstill_.next[rank]),
                       -1});
      }
    }
    return all;
  }

  /// All that keeps a place from being done.
  [[nodiscard]] std::vector<Place> blockers(const Place& place) const {
    if (place.transfer >= 0) {
      return blockers_of_transfer(place);
    }
    const std::int32_t next = next_on(place.rank);
    if (place.item != next) {
      return {{place.rank, next, -1}};
    }
    const ListItem& item = item_at(place);
    std::vector<Place> all;
    if (item.kind == ListItemKind::kTransfers) {
      add_blockers_of_call(place, item, all);
    } else {
      for (const Action& action : item.actions) {
        add_needs(action, all);
      }
    }
    return all;
  }

  [[nodiscard]] WaitLink link(const Place& place, const Place& blocker) const {
    const ListItem& item = item_at(place);
    const std::string text = place.transfer >= 0
                                 ? to_string(item.actions[static_cast<std::size_t>(place.transfer)])
                                 : to_string(item);
    WaitLink link{fmt::format("rank {} pos {} ({})", place.rank, place.item, text)};
    if (place.rank == blocker.rank && place.item > blocker.item) {
      link.how = place.transfer >= 0 ? "queues behind" : "is reached only after";
    }
    return link;
  }

 private:
  [[nodiscard]] std::uint64_t key(const Action& action) const {
    // Both kinds of backward make the gradient that others wait for.
    const ActionKind kind =
        action.kind == ActionKind::kBackwardInput ? ActionKind::kBackward : action.kind;
    const std::uint64_t row =
        action.stage.index() * static_cast<std::uint64_t>(list_.micro_batches) +
        action.micro_batch.index();
    return row * kActionKindCount + static_cast<std::uint64_t>(kind);
  }
  [[nodiscard]] Place place_of(const Action& action) const {
    const auto found = places_.find(key(action));
    SW_CHECK(found != places_.end(), "an action that stands in a list that covers everything");
    return found->second;
  }
  [[nodiscard]] Place item_of(const Action& action) const {
    Place place = place_of(action);
    place.transfer = -1;
    return place;
  }
  [[nodiscard]] std::int32_t next_on(std::int32_t rank) const {
    return static_cast<std::int32_t>(standstill_.next[static_cast<std::size_t>(rank)]);
  }
  [[nodiscard]] const ListItem& item_at(const Place& place) const {
    return list_.ranks[static_cast<std::size_t>(place.rank)][static_cast<std::size_t>(place.item)];
  }
  [[nodiscard]] bool computed(const Action& action) const {
    const Place place = place_of(action);
    return place.item < next_on(place.rank);
  }

  static Action of_kind(ActionKind kind, std::int32_t stage, MicroBatchId micro_batch) {
    return {.kind = kind,
            .stage = StageId(stage),
            .micro_batch = micro_batch,
            .peer = {},
            .bucket = {}};
  }

  void add_computation(const Action& action, std::vector<Place>& all) const {
    if (!computed(action)) {
      all.push_back(item_of(action));
    }
  }

  /// What a computation needs of its own stage and of the one beside it.
  void add_needs(const Action& action, std::vector<Place>& all) const {
    const std::int32_t stage = action.stage.value();
    const MicroBatchId m = action.micro_batch;
    switch (action.kind) {
      case ActionKind::kForward:
        if (stage > 0) {
          add_input(action, ActionKind::kForward, stage - 1, ActionKind::kRecvActivation, all);
        }
        return;
      case ActionKind::kBackward:
      case ActionKind::kBackwardInput:
        add_computation(of_kind(ActionKind::kForward, stage, m), all);
        if (stage + 1 < list_.stages) {
          add_input(action, ActionKind::kBackward, stage + 1, ActionKind::kRecvGradient, all);
        }
        return;
      case ActionKind::kBackwardWeight:
        return add_computation(of_kind(ActionKind::kBackward, stage, m), all);
      case ActionKind::kRecompute:
        return add_computation(of_kind(ActionKind::kForward, stage, m), all);
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

  /// The producer on the stage beside this one, or the message that brings what it made.
  void add_input(const Action& action,
                 ActionKind made_by,
                 std::int32_t stage,
                 ActionKind receive,
                 std::vector<Place>& all) const {
    const bool same_rank = list_.rank_of(StageId(stage), action.micro_batch) ==
                           list_.rank_of(action.stage, action.micro_batch);
    if (standstill_.queues == nullptr || same_rank) {
      return add_computation(of_kind(made_by, stage, action.micro_batch), all);
    }
    add_transfer(of_kind(receive, action.stage.value(), action.micro_batch), all);
  }

  /// A transfer that is not done: itself where it has been called, else the item that will call it.
  void add_transfer(const Action& transfer, std::vector<Place>& all) const {
    if (!standstill_.queues->done(transfer)) {
      const Place place = place_of(transfer);
      all.push_back(called_.contains(place) ? place : item_of(transfer));
    }
  }

  void add_blockers_of_call(const Place& place,
                            const ListItem& item,
                            std::vector<Place>& all) const {
    if (standstill_.called[static_cast<std::size_t>(place.rank)]) {
      for (const Action& transfer : item.actions) {
        if (!standstill_.queues->done(transfer)) {
          const std::vector<Place> own = blockers_of_transfer(place_of(transfer));
          all.insert(all.end(), own.begin(), own.end());
        }
      }
      return;
    }
    for (const Action& transfer : item.actions) {
      if (is_send(transfer.kind)) {
        const bool forward = transfer.kind == ActionKind::kSendActivation;
        add_computation(of_kind(forward ? ActionKind::kForward : ActionKind::kBackward,
                                transfer.stage.value(),
                                transfer.micro_batch),
                        all);
      }
    }
  }

  [[nodiscard]] std::vector<Place> blockers_of_transfer(const Place& place) const {
    const TransferQueues::Waiting& waiting = called_.at(place);
    std::vector<Place> all;
    if (waiting.open) {
      add_transfer(other_side(waiting.action), all);
    } else {
      all = open_.at(waiting.queue);
    }
    return all;
  }

  const TokenList& list_;
  const ListStandstill& standstill_;
  std::unordered_map<std::uint64_t, Place> places_;
  std::map<Place, TransferQueues::Waiting> called_;  ///< and not done
  std::map<std::size_t, std::vector<Place>> open_;   ///< by queue: those whose turn it is
};

}  // namespace

std::string waiting_cycle(const TokenList& list, const ListStandstill& standstill) {
  const WaitGraph graph(list, standstill);
  const std::vector<Place> cycle = shortest_wait_cycle<Place>(
      graph.stands(), [&graph](const Place& place) { return graph.blockers(place); });
  return wait_cycle_text(cycle.size(), [&](std::size_t i) {
    return graph.link(cycle[i], cycle[(i + 1) % cycle.size()]);
  });
}

}  // namespace stagewright
