#include "gui/models/step_analysis.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

#include "core/trace/optimizer_waits.h"
#include "sim/analysis/trace_work.h"

namespace stagewright::gui {
namespace {

constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

/// The step alone, as the only one of its trace.
Trace single_step(const Trace& trace, std::int32_t step) {
  Trace single;
  single.measured = trace.measured;
  single.ranks = trace.ranks;
  single.streams = trace.streams;
  const auto at = static_cast<std::size_t>(step);
  single.step_times = {at < trace.step_times.size() ? trace.step_times[at] : Duration{}};
  for (const TraceEvent& event : trace.events) {
    if (event.step == step && (!event.op_index || is_optimizer(event.action))) {
      single.events.push_back(event);
      single.events.back().step = 0;
    }
  }
  return single;
}

LaneUse use_of(WorkKind kind) {
  if (kind == WorkKind::kTransfer) {
    return LaneUse::kTransfers;
  }
  return kind == WorkKind::kCollective ? LaneUse::kCollectives : LaneUse::kCompute;
}

/// Finds actions of the store by rank, place in its list and time: an optimizer step stands in
/// parts.  A message may have the place of the action that it is for.
class Places {
 public:
  explicit Places(const ActionStore& store) {
    entries_.reserve(store.size());
    for (const Lane& lane : store.lanes) {
      for (ActionIndex i = lane.begin; i < lane.end; ++i) {
        entries_.push_back(
            {lane.rank, store.place[i], lane.use, store.start[i], static_cast<std::uint32_t>(i)});
      }
    }
    std::ranges::sort(entries_);
  }

  /// The last that had started by then, or the first where none had.
  [[nodiscard]] std::uint32_t find(RankId rank,
                                   std::int32_t place,
                                   LaneUse use,
                                   Duration by) const {
    const auto of_action = std::ranges::equal_range(
        entries_, std::tuple(rank, place, use), {}, [](const Entry& entry) {
          return std::tuple(entry.rank, entry.place, entry.use);
        });
    if (of_action.empty()) {
      return kNowhere;
    }
    auto found = std::prev(of_action.end());
    while (found != of_action.begin() && found->start > by.count()) {
      --found;
    }
    return found->action;
  }

 private:
  struct Entry {
    RankId rank;
    std::int32_t place = 0;
    LaneUse use = LaneUse::kCompute;
    std::int64_t start = 0;
    std::uint32_t action = 0;
    auto operator<=>(const Entry&) const = default;
  };
  std::vector<Entry> entries_;
};

/// Of those that meet in a node, the last to arrive: the one that the others waited for.  Whoever
/// did not wait has one part, which ends later than all that did.
std::uint32_t last_to_arrive(const StepWork& work,
                             const std::vector<std::uint32_t>& actions,
                             const ActionStore& store,
                             std::size_t meeting) {
  std::uint32_t last = kNowhere;
  for (auto e = static_cast<std::size_t>(work.graph.edge_begin[meeting]);
       e < static_cast<std::size_t>(work.graph.edge_begin[meeting + 1]);
       ++e) {
    const std::uint32_t from = actions[static_cast<std::size_t>(work.graph.from[e])];
    if (from != kNowhere && (last == kNowhere || store.end[from] > store.end[last])) {
      last = from;
    }
  }
  return last;
}

/// The action of every node; of a meeting that of who came last, kNowhere for what else takes no
/// time in the store.
std::vector<std::uint32_t> actions_of_nodes(const StepWork& work,
                                            const Places& places,
                                            const ActionStore& store) {
  const std::vector<Duration> starts = work.starts();
  std::vector<std::uint32_t> actions(work.pieces.size(), kNowhere);
  std::vector<std::size_t> meetings;
  for (std::size_t node = 0; node < work.pieces.size(); ++node) {
    const WorkPiece& piece = work.pieces[node];
    if (piece.kind == WorkKind::kIssue) {
      meetings.push_back(node);
    } else {
      const RankId rank = work.ranks[static_cast<std::size_t>(piece.rank)].rank;
      actions[node] = places.find(rank, piece.action, use_of(piece.kind), starts[node]);
    }
  }
  for (const std::size_t meeting : meetings) {
    actions[meeting] = last_to_arrive(work, actions, store, meeting);
  }
  return actions;
}

struct Edge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::int64_t bound = 0;  ///< when `from` let `to` go on
};

void sort_edges(std::vector<Edge>& edges, const ActionStore& store, StepAnalysis& analysis) {
  const auto fill = [&](std::vector<std::uint32_t>& begin,
                        std::vector<ActionIndex>& list,
                        std::uint32_t Edge::*key,
                        std::uint32_t Edge::*value) {
    begin.assign(store.size() + 1, 0);
    for (const Edge& edge : edges) {
      ++begin[edge.*key + 1];
    }
    for (std::size_t i = 1; i < begin.size(); ++i) {
      begin[i] += begin[i - 1];
    }
    for (const Edge& edge : edges) {
      list.push_back(edge.*value);
    }
  };
  std::ranges::sort(edges, [](const Edge& a, const Edge& b) {
    return a.to != b.to ? a.to < b.to : a.bound > b.bound;
  });
  fill(analysis.before_begin, analysis.before, &Edge::to, &Edge::from);
  std::ranges::sort(edges, [&](const Edge& a, const Edge& b) {
    return a.from != b.from ? a.from < b.from : store.start[a.to] < store.start[b.to];
  });
  fill(analysis.after_begin, analysis.after, &Edge::from, &Edge::to);
}

void add_edges(const StepWork& work,
               const std::vector<std::uint32_t>& actions,
               const ActionStore& store,
               StepAnalysis& analysis) {
  std::vector<Edge> edges;
  edges.reserve(work.graph.from.size());
  for (std::size_t to = 0; to < actions.size(); ++to) {
    if (work.pieces[to].kind == WorkKind::kIssue) {
      continue;
    }
    for (auto e = static_cast<std::size_t>(work.graph.edge_begin[to]);
         e < static_cast<std::size_t>(work.graph.edge_begin[to + 1]);
         ++e) {
      const auto node = static_cast<std::size_t>(work.graph.from[e]);
      const std::uint32_t from = actions[node];
      if (from != kNowhere && actions[to] != kNowhere && from != actions[to]) {
        const bool meets = work.pieces[node].kind == WorkKind::kIssue;
        edges.push_back(
            {from,
             actions[to],
             meets ? store.start[actions[to]] : store.end[from] + work.graph.lag[e].count()});
      }
    }
  }
  sort_edges(edges, store, analysis);
}

void add_path(const StepWork& work,
              const Places& places,
              const ActionStore& store,
              StepAnalysis& analysis) {
  analysis.is_on_path.assign(store.size(), 0);
  analysis.slack.assign(store.size(), 0);
  const auto find = [&](std::int32_t rank, std::int32_t place, LaneUse use, Duration by) {
    return places.find(work.ranks[static_cast<std::size_t>(rank)].rank, place, use, by);
  };
  for (const PathSegment& segment : analysis.path.segments) {
    const std::uint32_t action =
        find(segment.piece.rank, segment.piece.action, use_of(segment.piece.kind), segment.begin);
    if (action != kNowhere && analysis.is_on_path[action] == 0) {
      analysis.is_on_path[action] = 1;
      analysis.on_path.push_back(action);
    }
  }
  for (const ActionSlack& slack : analysis.path.slack) {
    if (const std::uint32_t action =
            find(slack.rank, slack.action, LaneUse::kCompute, Duration::min());
        action != kNowhere) {
      analysis.slack[action] = slack.slack.count();
    }
  }
}

/// Where a rank's pipeline is full: from its first backward to its last forward.
struct Steady {
  std::int64_t first_backward = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_forward = 0;
};

Steady steady_phase(const ActionStore& store, const Lane& lane) {
  Steady steady;
  for (ActionIndex i = lane.begin; i < lane.end; ++i) {
    const ActionKind kind = store.kind[i];
    if (kind == ActionKind::kForward) {
      steady.last_forward = store.end[i];
    } else if (kind == ActionKind::kBackward || kind == ActionKind::kBackwardInput) {
      steady.first_backward = std::min(steady.first_backward, store.start[i]);
    }
  }
  return steady;
}

BubbleCause phase_cause(const Steady& steady, std::int64_t gap_end) {
  if (gap_end <= steady.first_backward) {
    return BubbleCause::kWarmUp;
  }
  return gap_end > steady.last_forward ? BubbleCause::kCoolDown : BubbleCause::kOrder;
}

/// The gap in front of an action: what moved or was reduced meanwhile, and before that the order.
void add_gap(const ActionStore& store,
             const StepAnalysis& analysis,
             const Steady& steady,
             Gap gap,
             ActionIndex next,
             std::vector<Gap>& gaps) {
  gap.cause = phase_cause(steady, gap.end);
  const auto before = analysis.before_of(next);
  if (!before.empty()) {
    const LaneUse use = lane_use_of(store.kind[before.front()]);
    const std::int64_t from = std::clamp(store.start[before.front()], gap.start, gap.end);
    if (use != LaneUse::kCompute && from < gap.end && store.end[before.front()] > gap.start) {
      if (from > gap.start) {
        gaps.push_back({gap.start, from, gap.cause});
      }
      gap.start = from;
      gap.cause = use == LaneUse::kTransfers ? BubbleCause::kTransfer : BubbleCause::kCollective;
    }
  }
  gaps.push_back(gap);
}

void add_gaps(const ActionStore& store, StepAnalysis& analysis) {
  analysis.gaps.resize(store.lanes.size());
  for (std::size_t l = 0; l < store.lanes.size(); ++l) {
    const Lane& lane = store.lanes[l];
    if (lane.use != LaneUse::kCompute || lane.number != 0) {
      continue;
    }
    const Steady steady = steady_phase(store, lane);
    std::int64_t free = 0;
    for (ActionIndex i = lane.begin; i < lane.end; ++i) {
      if (store.start[i] > free && goes_on(store, lane, i)) {
        analysis.gaps[l].push_back({free, store.start[i], BubbleCause::kOptimizer});
      } else if (store.start[i] > free) {
        add_gap(store, analysis, steady, {free, store.start[i], {}}, i, analysis.gaps[l]);
      }
      free = store.end[i];
    }
    if (free < store.length) {
      analysis.gaps[l].push_back({free, store.length, BubbleCause::kOptimizer});
    }
  }
}

template <class Begin>
std::span<const ActionIndex> part_of(const std::vector<ActionIndex>& list,
                                     const Begin& begin,
                                     ActionIndex action) {
  if (action + 1 >= begin.size()) {
    return {};
  }
  return std::span(list).subspan(begin[action], begin[action + 1] - begin[action]);
}

}  // namespace

std::span<const ActionIndex> StepAnalysis::before_of(ActionIndex action) const {
  return part_of(before, before_begin, action);
}

std::span<const ActionIndex> StepAnalysis::after_of(ActionIndex action) const {
  return part_of(after, after_begin, action);
}

StepAnalysis analyse_step(const Trace& trace, std::int32_t step, const ActionStore& store) {
  const StepWork work = work_of(single_step(trace, step));
  StepAnalysis analysis;
  analysis.path = critical_path(work);
  analysis.bubbles = bubble_causes(work);
  const Places places(store);
  add_path(work, places, store, analysis);
  add_edges(work, actions_of_nodes(work, places, store), store, analysis);
  add_gaps(store, analysis);
  return analysis;
}

std::vector<ActionIndex> chain_to_root(const StepAnalysis& analysis, ActionIndex action) {
  std::vector<ActionIndex> chain;
  for (auto before = analysis.before_of(action); !before.empty();
       before = analysis.before_of(chain.back())) {
    // Edges lead from earlier to later actions, so the walk ends; actions of no length may stand
    // at the same time.
    if (std::ranges::find(chain, before.front()) != chain.end()) {
      break;
    }
    chain.push_back(before.front());
  }
  return chain;
}

}  // namespace stagewright::gui
