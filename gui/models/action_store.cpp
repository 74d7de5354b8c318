#include "gui/models/action_store.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/trace/optimizer_waits.h"
#include "formats/action_colours.h"

namespace stagewright::gui {
namespace {

constexpr std::size_t kUses = 3;

/// An event and what it is sorted by, so that sorting stays in the cache.
struct Placed {
  TimePoint start;
  TimePoint end;
  std::int32_t place = 0;
  const TraceEvent* event = nullptr;
};

/// Collects the events of one rank and appends them as lanes.
class RankLanes {
 public:
  RankLanes(ActionStore& store, const OptimizerWaits& waits) : store_(store), waits_(waits) {}

  void add(const TraceEvent& event) {
    const LaneUse use = lane_use_of(event.action);
    if (is_optimizer(event.action)) {
      for (const WorkedStretch& stretch : waits_.worked(event)) {
        place(use, stretch.start, stretch.end, event);
      }
    } else if (event.end > event.start ||
               (use == LaneUse::kCompute && event.action != ActionKind::kLoadMicroBatch)) {
      place(use, event.start, event.end, event);
    }
  }

  void finish() {
    const ActionIndex first = store_.size();
    for (std::size_t use = 0; use < kUses; ++use) {
      append(events_[use], static_cast<LaneUse>(use));
      events_[use].clear();
    }
    number_chunks(first);
  }

 private:
  void place(LaneUse use, TimePoint start, TimePoint end, const TraceEvent& event) {
    events_[static_cast<std::size_t>(use)].push_back({start, end, event.action_index, &event});
  }

  static bool earlier(const Placed& a, const Placed& b) {
    return std::tie(a.start, a.end, a.place) < std::tie(b.start, b.end, b.place);
  }

  void append(std::vector<Placed>& events, LaneUse use) {
    if (!std::ranges::is_sorted(events, earlier)) {
      std::ranges::stable_sort(events, earlier);
    }
    std::vector<Placed> later;
    for (std::int32_t number = 0; !events.empty(); ++number) {
      Lane lane{.rank = events.front().event->rank,
                .use = use,
                .number = number,
                .begin = store_.size(),
                .end = store_.size()};
      TimePoint free = TimePoint::min();
      later.clear();
      for (const Placed& placed : events) {
        if (placed.start < free) {
          later.push_back(placed);
          continue;
        }
        free = placed.end;
        push(placed);
      }
      lane.end = store_.size();
      store_.lanes.push_back(lane);
      events.swap(later);
    }
  }

  void push(const Placed& placed) {
    const TraceEvent& event = *placed.event;
    store_.start.push_back(placed.start.time_since_epoch().count());
    store_.end.push_back(placed.end.time_since_epoch().count());
    store_.micro_batch.push_back(event.micro_batch.value());
    store_.stage.push_back(event.stage.value());
    store_.place.push_back(event.action_index);
    store_.kind.push_back(event.action);
    store_.chunk.push_back(0);
    store_.length = std::max(store_.length, store_.end.back());
    store_.ranks = std::max(store_.ranks, event.rank.value() + 1);
  }

  void number_chunks(ActionIndex first) {
    std::vector<std::int32_t> stages;
    for (ActionIndex i = first; i < store_.size(); ++i) {
      if (is_compute(store_.kind[i]) && (stages.empty() || stages.back() != store_.stage[i])) {
        stages.push_back(store_.stage[i]);
      }
    }
    std::ranges::sort(stages);
    stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
    for (ActionIndex i = first; stages.size() > 1 && i < store_.size(); ++i) {
      const auto found = std::ranges::lower_bound(stages, store_.stage[i]);
      if (found != stages.end() && *found == store_.stage[i]) {
        store_.chunk[i] =
            static_cast<std::uint8_t>(std::min<std::ptrdiff_t>(found - stages.begin(), 255));
      }
    }
  }

  ActionStore& store_;
  const OptimizerWaits& waits_;
  std::array<std::vector<Placed>, kUses> events_;
};

void reserve(ActionStore& store, std::size_t count) {
  store.start.reserve(count);
  store.end.reserve(count);
  store.micro_batch.reserve(count);
  store.stage.reserve(count);
  store.place.reserve(count);
  store.kind.reserve(count);
  store.chunk.reserve(count);
}

}  // namespace

LaneUse lane_use_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
    case ActionKind::kBackward:
    case ActionKind::kBackwardInput:
    case ActionKind::kBackwardWeight:
    case ActionKind::kRecompute:
    case ActionKind::kOptimizerStep:
    case ActionKind::kUpdateParameters:
    case ActionKind::kLoadMicroBatch:
      return LaneUse::kCompute;
    case ActionKind::kSendActivation:
    case ActionKind::kRecvActivation:
    case ActionKind::kSendGradient:
    case ActionKind::kRecvGradient:
      return LaneUse::kTransfers;
    case ActionKind::kReduceGradients:
    case ActionKind::kGatherParameters:
      return LaneUse::kCollectives;
  }
  SW_CHECK(false, "an action of a kind that is listed");
}

LaneIndex ActionStore::lane_of(ActionIndex action) const {
  SW_CHECK(action < size(), "an action of this store");
  const auto after = std::ranges::upper_bound(lanes, action, {}, &Lane::begin);
  return static_cast<LaneIndex>(after - lanes.begin()) - 1;
}

std::span<const Lane> ActionStore::lanes_of(RankId rank) const {
  const auto [first, last] = std::ranges::equal_range(lanes, rank, {}, &Lane::rank);
  return {first, last};
}

ActionIndex ActionStore::first_ending_after(const Lane& lane, double time) const {
  const auto first = end.begin() + static_cast<std::ptrdiff_t>(lane.begin);
  const auto last = end.begin() + static_cast<std::ptrdiff_t>(lane.end);
  const auto found = std::upper_bound(
      first, last, time, [](double t, std::int64_t e) { return t < static_cast<double>(e); });
  return static_cast<ActionIndex>(found - end.begin());
}

std::optional<ActionIndex> ActionStore::at(const Lane& lane, double time) const {
  const ActionIndex action = first_ending_after(lane, time);
  if (action == lane.end || static_cast<double>(start[action]) > time) {
    return std::nullopt;
  }
  return action;
}

std::optional<ActionIndex> ActionStore::find(RankId rank, std::int32_t at_place) const {
  for (const Lane& lane : lanes_of(rank)) {
    for (ActionIndex i = lane.begin; i < lane.end; ++i) {
      if (place[i] == at_place) {
        return i;
      }
    }
  }
  return std::nullopt;
}

ActionStore store_actions(const Trace& trace, std::int32_t step) {
  ActionStore store;
  const OptimizerWaits waits(trace);
  std::vector<const TraceEvent*> chosen;
  chosen.reserve(trace.events.size());
  for (const TraceEvent& event : trace.events) {
    if (event.step == step && !event.op_index) {
      chosen.push_back(&event);
    }
  }
  const auto by_rank = [](const TraceEvent* a, const TraceEvent* b) { return a->rank < b->rank; };
  if (!std::ranges::is_sorted(chosen, by_rank)) {
    std::ranges::stable_sort(chosen, by_rank);
  }
  reserve(store, chosen.size());
  RankLanes lanes(store, waits);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    lanes.add(*chosen[i]);
    if (i + 1 == chosen.size() || chosen[i + 1]->rank != chosen[i]->rank) {
      lanes.finish();
    }
  }
  return store;
}

bool goes_on(const ActionStore& store, const Lane& lane, ActionIndex action) {
  return action > lane.begin && store.place[action] == store.place[action - 1] &&
         is_optimizer(store.kind[action]) && store.kind[action] == store.kind[action - 1];
}

std::string short_name(const ActionStore& store, ActionIndex action) {
  return fmt::format("{}{}", look_of(store.kind[action]).letter, store.micro_batch[action]);
}

}  // namespace stagewright::gui
