#include "sim/analysis/trace_work.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "core/base/check.h"
#include "core/trace/optimizer_waits.h"
#include "sim/analysis/intervals.h"
#include "sim/analysis/trace_figures.h"

namespace stagewright {
namespace {

std::optional<WorkKind> kind_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return WorkKind::kForward;
    case ActionKind::kBackward:
      return WorkKind::kBackward;
    case ActionKind::kBackwardInput:
      return WorkKind::kBackwardInput;
    case ActionKind::kBackwardWeight:
      return WorkKind::kBackwardWeight;
    case ActionKind::kRecompute:
      return WorkKind::kRecompute;
    case ActionKind::kOptimizerStep:
    case ActionKind::kUpdateParameters:
      return WorkKind::kOptimizer;
    case ActionKind::kReduceGradients:
    case ActionKind::kGatherParameters:
      return WorkKind::kCollective;
    case ActionKind::kRecvActivation:
    case ActionKind::kRecvGradient:
      return WorkKind::kTransfer;
    case ActionKind::kLoadMicroBatch:
    case ActionKind::kSendActivation:
    case ActionKind::kSendGradient:
      return std::nullopt;  // a message is known by its receive
  }
  SW_CHECK(false, "an action of a kind that is listed");
}

/// The step that stands for the trace.
std::int32_t chosen_step(const Trace& trace) {
  std::vector<std::pair<Duration, std::int32_t>> steps;
  for (std::size_t step = 0; step < trace.step_times.size(); ++step) {
    if (counts(trace, static_cast<std::int32_t>(step))) {
      steps.emplace_back(trace.step_times[step], static_cast<std::int32_t>(step));
    }
  }
  if (steps.empty()) {
    return 0;
  }
  std::ranges::sort(steps);
  return steps[(steps.size() - 1) / 2].second;
}

class TraceWork {
 public:
  explicit TraceWork(const Trace& trace) : waits_(trace) {
    const std::int32_t step = chosen_step(trace);
    for (const TraceEvent& event : trace.events) {
      if (event.step == step && !event.op_index && kind_of(event.action)) {
        events_.push_back(&event);
      }
    }
    std::ranges::stable_sort(events_, [](const TraceEvent* a, const TraceEvent* b) {
      return std::tuple(a->rank, a->action_index) < std::tuple(b->rank, b->action_index);
    });
  }

  StepWork run() && {
    for (const TraceEvent* event : std::exchange(events_, {})) {
      add_parts(*event);
    }
    add_busy();
    const std::size_t of_ranks = events_.size();
    for (std::size_t node = 0; node < of_ranks; ++node) {
      connect(node);
    }
    connect_meetings();
    TimingGraphBuilder::Built built = std::move(builder_).build();
    SW_CHECK(built.cycle.empty(), "edges that lead from earlier events to later ones");
    work_.graph = std::move(built.graph);
    add_delays();
    return std::move(work_);
  }

 private:
  using Key = std::tuple<ActionKind, StageId, MicroBatchId>;

  [[nodiscard]] Duration start_of(std::size_t node) const {
    return events_[node]->start.time_since_epoch();
  }
  [[nodiscard]] Duration end_of(std::size_t node) const {
    return events_[node]->end.time_since_epoch();
  }
  [[nodiscard]] WorkKind kind_at(std::size_t node) const { return work_.pieces[node].kind; }
  [[nodiscard]] bool occupies(std::size_t node) const {
    return is_stage_work(kind_at(node)) || kind_at(node) == WorkKind::kOptimizer;
  }

  /// An optimizer step is a node from each of its waits and collectives to the next, so that the
  /// time at which a rank arrives there is known.
  void add_parts(const TraceEvent& event) {
    TraceEvent part = event;
    TimePoint before = TimePoint::min();
    for (const OptimizerWait& wait : waits_.of(event)) {
      if (wait.to <= before || wait.to < part.start || wait.to > event.end) {
        continue;  // it begins with the one before it, or the trace is not sound
      }
      before = wait.to;
      part.end = std::max(wait.from, part.start);
      add(parts_.emplace_back(part));
      if (wait.for_members) {
        members_[wait.to].push_back(events_.size() - 1);
      }
      part.start = wait.to;
      part.end = event.end;
    }
    add(part == event ? event : parts_.emplace_back(part));
  }

  void add(const TraceEvent& event) {
    if (work_.ranks.empty() || work_.ranks.back().rank != event.rank) {
      work_.ranks.push_back({.rank = event.rank, .alike = 1, .busy = {}});
      rank_begin_.push_back(work_.pieces.size());
    }
    if (overlaps_last(event)) {
      work_.pieces.back().kind = WorkKind::kOverlapped;
      beside_.emplace(events_.size() - 1, &event);
      holders_[key_of(event)].push_back(events_.size() - 1);
      return;
    }
    const Duration length = event.end - event.start;
    WorkPiece piece{.kind = *kind_of(event.action),
                    .rank = static_cast<std::int32_t>(work_.ranks.size() - 1),
                    .action = event.action_index,
                    .stage = event.stage,
                    .micro_batch = event.micro_batch,
                    .busy = {}};
    if (is_stage_work(piece.kind) || piece.kind == WorkKind::kOptimizer) {
      piece.busy = length;
    }
    work_.pieces.push_back(piece);
    work_.durations.push_back(length);
    builder_.add_node();
    holders_[key_of(event)].push_back(events_.size());
    events_.push_back(&event);
  }

  [[nodiscard]] static Key key_of(const TraceEvent& event) {
    return {event.action, event.stage, event.micro_batch};
  }

  /// A forward and a backward that run together are two events of one place in the list.
  [[nodiscard]] bool overlaps_last(const TraceEvent& event) const {
    if (events_.empty() || !occupies(events_.size() - 1) || !is_compute(event.action)) {
      return false;
    }
    const TraceEvent& last = *events_.back();
    return last.rank == event.rank && last.action_index == event.action_index &&
           last.start == event.start && last.end == event.end;
  }

  void add_busy() {
    rank_begin_.push_back(events_.size());
    for (std::size_t rank = 0; rank < work_.ranks.size(); ++rank) {
      std::vector<Interval> busy;
      for (std::size_t node = rank_begin_[rank]; node < rank_begin_[rank + 1]; ++node) {
        if (occupies(node)) {
          busy.push_back({events_[node]->start, events_[node]->end});
        }
      }
      work_.ranks[rank].busy = length_of(united(std::move(busy)));
    }
  }

  /// The later one starts at the end of the earlier, or before it by as much as it did.  No edge
  /// where they began the other way around: then it was not this that was waited for.
  void add_edge(std::size_t from, std::size_t to, EdgeKind kind) {
    if (std::pair(start_of(from), from) < std::pair(start_of(to), to)) {
      builder_.add_edge(static_cast<NodeIndex>(from),
                        static_cast<NodeIndex>(to),
                        kind,
                        std::min(Duration{}, start_of(to) - end_of(from)));
    }
  }

  void connect(std::size_t node) {
    if (kind_at(node) == WorkKind::kTransfer) {
      connect_message(node);
    } else if (kind_at(node) == WorkKind::kCollective) {
      connect_collective(node);
    } else {
      if (const auto before = last_before(node)) {
        add_edge(*before, node, EdgeKind::kStream);
      }
      connect_needs(node, *events_[node]);
      if (const auto beside = beside_.find(node); beside != beside_.end()) {
        connect_needs(node, *beside->second);
      }
    }
  }

  /// The rank's activity in front of a node in its list.
  [[nodiscard]] std::optional<std::size_t> last_before(std::size_t node) const {
    const std::size_t begin = rank_begin_[static_cast<std::size_t>(work_.pieces[node].rank)];
    while (node > begin) {
      if (occupies(--node)) {
        return node;
      }
    }
    return std::nullopt;
  }

  /// Who made something for an event: on its own rank, or on the one that its own is paired with.
  [[nodiscard]] std::optional<std::size_t> maker(const TraceEvent& event, const Key& what) const {
    const auto found = holders_.find(what);
    if (found == holders_.end()) {
      return std::nullopt;
    }
    const std::vector<std::size_t>& makers = found->second;
    const auto on_own_rank = std::ranges::find_if(
        makers, [&](std::size_t node) { return events_[node]->rank == event.rank; });
    if (on_own_rank != makers.end()) {
      return *on_own_rank;
    }
    const std::vector<std::size_t>& takers = holders_.at(key_of(event));
    const auto place = static_cast<std::size_t>(
        std::ranges::find_if(takers,
                             [&](std::size_t node) { return events_[node]->rank == event.rank; }) -
        takers.begin());
    return makers[place * makers.size() / takers.size()];
  }

  [[nodiscard]] std::optional<std::size_t> activation_maker(const TraceEvent& event) const {
    return event.stage.value() == 0
               ? std::nullopt
               : maker(event,
                       {ActionKind::kForward, StageId(event.stage.value() - 1), event.micro_batch});
  }
  [[nodiscard]] std::optional<std::size_t> gradient_maker(const TraceEvent& event) const {
    const StageId after(event.stage.value() + 1);
    const auto whole = maker(event, {ActionKind::kBackward, after, event.micro_batch});
    return whole ? whole : maker(event, {ActionKind::kBackwardInput, after, event.micro_batch});
  }

  /// The message that an event waits for, or else whoever made what it reads.
  void connect_needs(std::size_t node, const TraceEvent& event) {
    const bool forward = event.action == ActionKind::kForward;
    if (!forward && event.action != ActionKind::kBackward &&
        event.action != ActionKind::kBackwardInput) {
      return;  // what it needs is of its own rank
    }
    const auto message = maker(event,
                               {forward ? ActionKind::kRecvActivation : ActionKind::kRecvGradient,
                                event.stage,
                                event.micro_batch});
    if (message && events_[*message]->rank == event.rank) {
      add_edge(*message, node, EdgeKind::kData);
    } else if (const auto made = forward ? activation_maker(event) : gradient_maker(event)) {
      add_edge(*made, node, EdgeKind::kData);
    }
  }

  /// A message waits for its data, for its receiver to come to it, and for the one before.
  void connect_message(std::size_t node) {
    const TraceEvent& event = *events_[node];
    const ActionKind kind = event.action;
    const auto made =
        kind == ActionKind::kRecvActivation ? activation_maker(event) : gradient_maker(event);
    if (made) {
      add_edge(*made, node, EdgeKind::kData);
    }
    std::size_t before = node;
    std::optional<std::size_t> issued;
    std::optional<std::size_t> queued;
    while (before-- > rank_begin_[static_cast<std::size_t>(work_.pieces[node].rank)]) {
      if (!queued && events_[before]->action == kind) {
        queued = before;
      }
      if (occupies(before) && events_[before]->end <= event.posted) {
        issued = before;
        break;
      }
    }
    if (queued) {
      add_edge(*queued, node, EdgeKind::kStream);
    }
    // A message that starts with its data did not wait for its receiver.
    if (issued && !(made && end_of(*made) == start_of(node))) {
      add_edge(*issued, node, EdgeKind::kIssue);
    }
  }

  /// A collective starts after the activity in front of it and holds up the first one behind it
  /// that can be meant: the optimizer step, or the use of what was gathered.
  void connect_collective(std::size_t node) {
    if (const auto before = last_before(node)) {
      add_edge(*before, node, EdgeKind::kData);
    }
    const bool reduces = events_[node]->action == ActionKind::kReduceGradients;
    const std::size_t end = rank_begin_[static_cast<std::size_t>(work_.pieces[node].rank) + 1];
    for (std::size_t after = node + 1; after < end; ++after) {
      const bool meant = reduces ? kind_at(after) == WorkKind::kOptimizer
                                 : is_stage_work(kind_at(after)) &&
                                       work_.pieces[after].stage == work_.pieces[node].stage;
      if (meant && start_of(after) >= end_of(node)) {
        add_edge(node, after, EdgeKind::kData);
        return;
      }
    }
  }

  /// The ranks that began a collective together waited for each other: a node without length
  /// stands between their parts before it and behind it.
  void connect_meetings() {
    for (const auto& [start, arriving] : members_) {
      const auto meeting = static_cast<NodeIndex>(events_.size());
      TraceEvent event = *events_[arriving.front()];
      event.posted = event.ready = event.start = event.end = start;
      events_.push_back(&parts_.emplace_back(event));
      WorkPiece piece = work_.pieces[arriving.front()];
      piece.kind = WorkKind::kIssue;
      piece.busy = {};
      work_.pieces.push_back(piece);
      work_.durations.emplace_back();
      builder_.add_node();
      for (const std::size_t node : arriving) {
        // Edges lead to later starts, or no order could be found among things of no length.
        if (events_[node]->start < start) {
          builder_.add_edge(static_cast<NodeIndex>(node), meeting, EdgeKind::kData, Duration{});
        }
        builder_.add_edge(meeting, static_cast<NodeIndex>(node + 1), EdgeKind::kData, Duration{});
      }
    }
  }

  /// What the edges do not explain.
  void add_delays() {
    const TimingGraph& graph = work_.graph;
    for (std::size_t node = 0; node < events_.size(); ++node) {
      Duration bound{};
      for (auto e = static_cast<std::size_t>(graph.edge_begin[node]);
           e < static_cast<std::size_t>(graph.edge_begin[node + 1]);
           ++e) {
        bound = std::max(bound, end_of(static_cast<std::size_t>(graph.from[e])) + graph.lag[e]);
      }
      work_.delays.push_back(start_of(node) - bound);
    }
  }

  OptimizerWaits waits_;
  std::deque<TraceEvent> parts_;           ///< of optimizer steps
  std::vector<const TraceEvent*> events_;  ///< by node
  /// The nodes that end where a rank arrives at a collective that starts then; the rank's next node
  /// starts with it.
  std::map<TimePoint, std::vector<std::size_t>> members_;
  std::map<std::size_t, const TraceEvent*> beside_;  ///< the other half of an overlapped pair
  std::vector<std::size_t> rank_begin_;              ///< first node of each rank, and the end
  std::map<Key, std::vector<std::size_t>> holders_;
  TimingGraphBuilder builder_;
  StepWork work_;
};

}  // namespace

StepWork work_of(const Trace& trace) {
  return TraceWork(trace).run();
}

}  // namespace stagewright
