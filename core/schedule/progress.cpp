#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/schedule/channels.h"
#include "core/schedule/checks.h"
#include "core/schedule/rank_classes.h"
#include "core/schedule/wait_cycle.h"
#include "core/schedule/wait_list.h"

namespace stagewright {
namespace {

/// How far one rank has come; it stands for all ranks of its class.
struct RankState {
  const WaitList* list = nullptr;
  std::int32_t issued = 0;          ///< items
  std::int32_t computed = 0;        ///< waits of the compute stream that are behind it
  std::vector<std::int32_t> heads;  ///< by queue: items done
  std::vector<bool> done;           ///< by item
  std::vector<bool> arrived;        ///< by item: a collective that waits for the other members
};

/// Runs the waits of a schedule as far as they go.  What can happen only ever adds to what can
/// happen next, so the order does not matter and what is left over at the end is stuck for good.
class Execution {
 public:
  Execution(const Schedule& schedule, const RankClasses& classes, MemoryWaits memory)
      : schedule_(schedule), classes_(classes) {
    std::map<ProgramId, std::size_t> known;
    for (const RankId rank : classes_.lowest) {
      const ProgramId program = schedule.ranks[rank.index()].program;
      if (known.try_emplace(program, lists_.size()).second) {
        lists_.push_back(
            wait_list(schedule.programs[program.index()], schedule.streams.size(), memory));
      }
      list_of_.push_back(known[program]);
    }
    for (const std::size_t list : list_of_) {
      const WaitList& waits = lists_[list];
      states_.push_back({&waits,
                         0,
                         0,
                         std::vector<std::int32_t>(waits.queues.size()),
                         std::vector<bool>(waits.items.size()),
                         std::vector<bool>(waits.items.size())});
    }
  }

  /// Whether the waits for memory are all that there are, or more.
  [[nodiscard]] bool covers_memory() const {
    return std::ranges::all_of(lists_, &WaitList::covers_memory);
  }

  void run() {
    for (std::size_t c = 0; c < states_.size(); ++c) {
      pending_.push_back(c);
    }
    while (!pending_.empty()) {
      const std::size_t c = pending_.back();
      pending_.pop_back();
      advance(c);
    }
  }

  /// A cycle of waiting items on real ranks, if anything is stuck.
  [[nodiscard]] std::optional<std::string> stuck() const {
    for (std::size_t c = 0; c < states_.size(); ++c) {
      const auto item = std::ranges::find(states_[c].done, false);
      if (item != states_[c].done.end()) {
        return cycle_from(
            {classes_.lowest[c], static_cast<std::int32_t>(item - states_[c].done.begin())});
      }
    }
    return std::nullopt;
  }

 private:
  using Place = std::pair<RankId, std::int32_t>;  ///< an item of a rank

  static const WaitItem& item(const RankState& state, std::int32_t index) {
    return state.list->items[static_cast<std::size_t>(index)];
  }
  static bool done(const RankState& state, std::int32_t index) {
    return state.done[static_cast<std::size_t>(index)];
  }
  static std::int32_t head(const RankState& state, std::int32_t queue) {
    return state.heads[static_cast<std::size_t>(queue)];
  }

  /// Rule 4: a send is issued when the one before it on its channel is done.
  static bool can_issue(const RankState& state, std::int32_t index) {
    const WaitItem& next = item(state, index);
    return next.kind != WaitItem::Kind::kSend || head(state, next.queue) == next.in_queue;
  }

  /// Rules 2 and 3, as far as this rank alone is concerned.
  static bool ready(const RankState& state, std::int32_t index) {
    const WaitItem& x = item(state, index);
    return index < state.issued && head(state, x.queue) == x.in_queue &&
           state.computed >= x.compute_waits &&
           std::ranges::all_of(x.after, [&](std::int32_t other) { return done(state, other); });
  }

  /// The item at the other side of a message, in the class of the peer.
  [[nodiscard]] std::int32_t partner(std::size_t rank_class, const WaitItem& x) const {
    const RankClasses::Peer& peer = classes_.peers[rank_class][static_cast<std::size_t>(x.slot)];
    SW_CHECK(peer.back.has_value(), "a message that has a partner");
    const Action& action = program(rank_class).actions[static_cast<std::size_t>(x.action)];
    const Action other{.kind = other_side(action.kind), .peer = *peer.back};
    const std::int32_t queue = message_queue(schedule_.streams.size(), other);
    return states_[peer.rank_class]
        .list->queues[static_cast<std::size_t>(queue)][static_cast<std::size_t>(x.in_queue)];
  }

  [[nodiscard]] const RankProgram& program(std::size_t rank_class) const {
    const RankId rank = classes_.lowest[rank_class];
    return schedule_.programs[schedule_.ranks[rank.index()].program.index()];
  }

  void complete(std::size_t rank_class, std::int32_t index) {
    RankState& state = states_[rank_class];
    state.done[static_cast<std::size_t>(index)] = true;
    ++state.heads[static_cast<std::size_t>(item(state, index).queue)];
    pending_.push_back(rank_class);
  }

  void advance(std::size_t rank_class) {
    RankState& state = states_[rank_class];
    const WaitList& list = *state.list;
    for (bool moved = true; moved;) {
      moved = false;
      while (state.computed < static_cast<std::int32_t>(list.compute_waits.size()) &&
             done(state, list.compute_waits[static_cast<std::size_t>(state.computed)])) {
        ++state.computed;
      }
      while (state.issued < static_cast<std::int32_t>(list.items.size()) &&
             can_issue(state, state.issued)) {
        ++state.issued;
      }
      for (const std::vector<std::int32_t>& queue : list.queues) {
        moved = start_head(rank_class, queue) || moved;
      }
    }
  }

  /// Completes the first item of a queue that is not done, if all sides are ready.
  bool start_head(std::size_t rank_class, const std::vector<std::int32_t>& queue) {
    RankState& state = states_[rank_class];
    if (queue.empty()) {
      return false;
    }
    const std::int32_t position = head(state, item(state, queue.front()).queue);
    if (position == static_cast<std::int32_t>(queue.size())) {
      return false;
    }
    const std::int32_t index = queue[static_cast<std::size_t>(position)];
    if (!ready(state, index)) {
      return false;
    }
    const WaitItem& x = item(state, index);
    switch (x.kind) {
      case WaitItem::Kind::kLocal:
        complete(rank_class, index);
        return true;
      case WaitItem::Kind::kCollective:
        return arrive(rank_class, index);
      case WaitItem::Kind::kSend:
      case WaitItem::Kind::kReceive: {
        const std::size_t peer =
            classes_.peers[rank_class][static_cast<std::size_t>(x.slot)].rank_class;
        const std::int32_t other = partner(rank_class, x);
        if (!ready(states_[peer], other)) {
          return false;
        }
        complete(rank_class, index);
        complete(peer, other);
        return true;
      }
    }
    SW_CHECK(false, "a known item");
  }

  /// Rule 6.  The last member to arrive completes the collective for all.
  bool arrive(std::size_t rank_class, std::int32_t index) {
    RankState& state = states_[rank_class];
    const WaitItem& x = item(state, index);
    if (state.arrived[static_cast<std::size_t>(index)]) {
      return false;
    }
    state.arrived[static_cast<std::size_t>(index)] = true;
    const std::size_t kind = classes_.group_kinds[rank_class][static_cast<std::size_t>(x.slot)];
    const auto& members = classes_.members[kind];
    const std::int32_t ordinal = x.ordinal;
    std::size_t& arrived = meetings_[{kind, ordinal}];
    if (++arrived < members.size()) {
      return false;
    }
    meetings_.erase({kind, ordinal});
    for (const auto& [member, slot] : members) {
      complete(member,
               states_[member].list->collectives[slot.index()][static_cast<std::size_t>(ordinal)]);
    }
    return true;
  }

  [[nodiscard]] const RankState& state_of(RankId rank) const {
    return states_[classes_.class_of_rank[rank.index()]];
  }

  /// All that this unfinished item waits for and that is not done either.
  [[nodiscard]] std::vector<Place> blockers(const Place& place) const {
    const auto& [rank, index] = place;
    const RankState& state = state_of(rank);
    const WaitItem& x = item(state, index);
    std::vector<Place> all;
    if (index > state.issued) {
      all.emplace_back(rank, state.issued);  // issue has stopped there
    }
    const std::int32_t first = head(state, x.queue);
    if (first != x.in_queue) {
      all.emplace_back(
          rank,
          state.list->queues[static_cast<std::size_t>(x.queue)][static_cast<std::size_t>(first)]);
    }
    for (const std::int32_t other : x.after) {
      if (!done(state, other)) {
        all.emplace_back(rank, other);
      }
    }
    if (state.computed < x.compute_waits) {
      all.emplace_back(rank, state.list->compute_waits[static_cast<std::size_t>(state.computed)]);
    }
    if (all.empty()) {
      add_other_sides(place, all);
    }
    return all;
  }

  /// The sides of a message or collective that are not ready, of one whose own side is: whether a
  /// side is ready is a matter of its rank alone.
  void add_other_sides(const Place& place, std::vector<Place>& all) const {
    const auto& [rank, index] = place;
    const std::size_t rank_class = classes_.class_of_rank[rank.index()];
    const RankBinding& binding = schedule_.ranks[rank.index()];
    const WaitItem& x = item(states_[rank_class], index);
    const auto slot = static_cast<std::size_t>(x.slot);
    switch (x.kind) {
      case WaitItem::Kind::kLocal:
        return;
      case WaitItem::Kind::kSend:
      case WaitItem::Kind::kReceive: {
        const RankId peer = binding.peers[slot];
        const std::int32_t other = partner(rank_class, x);
        if (!ready(state_of(peer), other)) {
          all.emplace_back(peer, other);
        }
        return;
      }
      case WaitItem::Kind::kCollective:
        break;
    }
    const GroupId group = binding.groups[slot];
    for (const RankId member : schedule_.groups[group.index()].members) {
      const auto& groups = schedule_.ranks[member.index()].groups;
      const auto own = static_cast<std::size_t>(std::ranges::find(groups, group) - groups.begin());
      const RankState& state = state_of(member);
      const std::int32_t call = state.list->collectives[own][static_cast<std::size_t>(x.ordinal)];
      if (member != rank && !ready(state, call)) {
        all.emplace_back(member, call);
      }
    }
  }

  [[nodiscard]] std::string name(const Place& place) const {
    const auto& [rank, index] = place;
    const WaitItem& x = item(state_of(rank), index);
    const RankProgram& own = program(classes_.class_of_rank[rank.index()]);
    const Action& action = own.actions[static_cast<std::size_t>(x.action)];
    std::string text = action_name(schedule_, rank, x.action);
    if (x.kind == WaitItem::Kind::kCollective || x.kind == WaitItem::Kind::kLocal) {
      const Operation& op = operations_of(own, action).ops[static_cast<std::size_t>(x.op)];
      text.insert(text.size() - 1, fmt::format(", operation {}: {}", x.op, name_of(op.kind)));
    }
    return text;
  }

  [[nodiscard]] std::string cycle_from(const Place& place) const {
    const std::vector<Place> cycle = shortest_wait_cycle<Place>(
        {place}, [this](const Place& waiting) { return blockers(waiting); });
    return wait_cycle_text(cycle.size(), [&](std::size_t i) { return WaitLink{name(cycle[i])}; });
  }

  const Schedule& schedule_;
  const RankClasses& classes_;
  std::vector<WaitList> lists_;
  std::vector<std::size_t> list_of_;  ///< by class, into lists_
  std::vector<RankState> states_;     ///< by class
  std::map<std::pair<std::size_t, std::int32_t>, std::size_t>
      meetings_;                      ///< members that are there
  std::vector<std::size_t> pending_;  ///< classes for which something may have changed
};

}  // namespace

Result<void> check_progress(const Schedule& schedule) {
  const RankClasses classes = classify_ranks(schedule);
  Execution cautious(schedule, classes, MemoryWaits::kCautious);
  cautious.run();
  if (cautious.covers_memory() && !cautious.stuck()) {
    return {};
  }
  Execution exact(schedule, classes, MemoryWaits::kExact);
  exact.run();
  if (const auto cycle = exact.stuck()) {
    return fail(ErrorCode::kInvalidInput, "deadlock: " + *cycle);
  }
  return {};
}

}  // namespace stagewright
