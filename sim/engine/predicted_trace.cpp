#include "sim/engine/predicted_trace.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/optimizer_waits.h"
#include "sim/memory/memory_changes.h"
#include "sim/memory/memory_timeline.h"

namespace stagewright {
namespace {

constexpr ActionKind kMessageKinds[] = {ActionKind::kSendActivation,
                                        ActionKind::kRecvActivation,
                                        ActionKind::kSendGradient,
                                        ActionKind::kRecvGradient};

/// Events and samples of the rank that stands for a class.
class ClassTrace {
 public:
  ClassTrace(const Schedule& schedule,
             const StepGraph& step,
             const StepTimes& times,
             const ClassWork& work,
             TraceDetail detail)
      : schedule_(schedule), step_(step), times_(times), work_(work), detail_(detail) {}

  void run() {
    const MemoryTimeline memory = memory_timeline(*work_.program);
    const std::vector<MemoryChange> changes = detail_ == TraceDetail::kOperations
                                                  ? memory_changes(*work_.program)
                                                  : std::vector<MemoryChange>{};
    auto change = changes.begin();
    for (std::size_t i = 0; i < work_.actions.size(); ++i) {
      if (work_.actions[i].transfer) {
        add_transfer(i);
      } else if (!work_.pieces(i).empty()) {
        add_pieces(i);
      } else {
        add_event(at_once(i));
      }
      if (detail_ == TraceDetail::kOperations) {
        // Every change, so that the high-water mark of each class is in the trace.
        for (; change != changes.end() && change->at.action <= static_cast<int>(i); ++change) {
          samples.push_back({work_.rank, 0, time_of(*change), change->live});
        }
      } else {
        add_sample(memory.by_action[i]);
      }
    }
  }

  std::vector<TraceEvent> events;
  std::vector<MemorySample> samples;

 private:
  [[nodiscard]] Duration start_of(NodeIndex node) const {
    return times_.start[static_cast<std::size_t>(node)];
  }
  [[nodiscard]] Duration end_of(NodeIndex node) const {
    return start_of(node) + step_.durations[static_cast<std::size_t>(node)];
  }

  /// When the last of what a node needs, its stream apart, was there.
  [[nodiscard]] Duration ready_of(NodeIndex node) const {
    const TimingGraph& graph = step_.graph;
    const auto i = static_cast<std::size_t>(node);
    Duration ready{};
    for (auto e = graph.edge_begin[i]; e < graph.edge_begin[i + 1]; ++e) {
      const auto edge = static_cast<std::size_t>(e);
      if (graph.kind[edge] != EdgeKind::kStream) {
        ready = std::max(ready, end_of(graph.from[edge]) + graph.lag[edge]);
      }
    }
    return ready;
  }

  [[nodiscard]] TraceEvent event_of(std::size_t i) const {
    const Action& action = work_.program->actions[i];
    TraceEvent event;
    event.rank = work_.rank;
    event.action_index = static_cast<std::int32_t>(i);
    event.action = action.kind;
    event.stage = action.stage;
    event.micro_batch = action.micro_batch;
    if (work_.actions[i].gate) {
      event.posted = TimePoint(end_of(*work_.actions[i].gate));
    }
    return event;
  }

  void add_event(const TraceEvent& event) { events.push_back(event); }

  /// Something that takes no time, in its place on the compute stream.
  [[nodiscard]] TraceEvent at_once(std::size_t i) const {
    TraceEvent event = event_of(i);
    event.ready = event.posted;
    event.start = std::max(event.posted, TimePoint(compute_free_));
    event.end = event.start;
    for (const TensorId tensor : moved_tensors(*work_.program, work_.program->actions[i])) {
      event.bytes += work_.program->tensors[tensor.index()].bytes();
    }
    return event;
  }

  void add_transfer(std::size_t i) {
    const Action& action = work_.program->actions[i];
    const NodeIndex node = *work_.actions[i].transfer;
    TraceEvent event = event_of(i);
    event.stream = StreamId(schedule_.streams.size() + static_cast<std::size_t>(action.kind) -
                            static_cast<std::size_t>(ActionKind::kSendActivation));
    event.start = TimePoint(start_of(node));
    event.end = TimePoint(end_of(node));
    event.ready =
        is_send(action.kind) ? std::max(event.posted, TimePoint(ready_of(node))) : event.posted;
    event.bytes = message_bytes(*work_.program, action);
    add_event(event);
  }

  [[nodiscard]] static TraceEvent operation_event(const TraceEvent& action,
                                                  const Operation& op,
                                                  const PricedOperation& priced,
                                                  Duration piece_start) {
    TraceEvent event = action;
    event.stream = op.stream;
    event.op_index = priced.op;
    event.op = op.kind;
    event.start = TimePoint(piece_start + priced.start);
    event.end = event.start + priced.duration;
    event.ready = event.start;
    event.bytes = bytes_moved(op);
    event.flops = flops_of(op);
    return event;
  }

  void add_pieces(std::size_t i) {
    if (detail_ == TraceDetail::kOperations) {
      add_operations(i);
    } else {
      add_whole(i);
    }
  }

  /// In issue order.
  [[nodiscard]] std::vector<TraceEvent> operation_events(std::size_t i) const {
    const ActionOperations selection = operations_of(*work_.program, work_.program->actions[i]);
    const TraceEvent empty = event_of(i);
    std::vector<TraceEvent> ops;
    for (std::size_t p = 0; p < work_.pieces(i).size(); ++p) {
      for (const PricedOperation& priced : work_.pieces(i)[p].ops) {
        const Operation& op = selection.ops[static_cast<std::size_t>(priced.op)];
        ops.push_back(operation_event(empty, op, priced, start_of(work_.nodes(i)[p])));
      }
    }
    std::ranges::sort(ops, {}, &TraceEvent::op_index);
    if (is_optimizer(empty.action)) {
      date_waits(ops);
    }
    return ops;
  }

  /// An operation that begins when nothing of its action ran for a while has been waited for since
  /// the last one was done.
  static void date_waits(std::vector<TraceEvent>& ops) {
    std::vector<TraceEvent*> by_start;
    for (TraceEvent& op : ops) {
      by_start.push_back(&op);
    }
    std::ranges::stable_sort(by_start, {}, &TraceEvent::start);
    TimePoint busy_until = by_start.front()->start;
    for (TraceEvent* const op : by_start) {
      if (op->start > busy_until) {
        op->ready = std::max(busy_until, op->posted);
      }
      busy_until = std::max(busy_until, op->end);
    }
  }

  void take_compute_stream(std::size_t i) {
    for (std::size_t p = 0; p < work_.pieces(i).size(); ++p) {
      if (work_.pieces(i)[p].compute_begin) {
        compute_free_ = end_of(work_.nodes(i)[p]);
      }
    }
  }

  /// Operation events behind the action's own.
  void add_operations(std::size_t i) {
    const std::vector<TraceEvent> ops = operation_events(i);
    take_compute_stream(i);
    add_event(whole(event_of(i), ops, ready_of(work_.nodes(i).front())));
    events.insert(events.end(), ops.begin(), ops.end());
  }

  /// The operations of an optimizer step that begin late, and its collectives: without them nobody
  /// could tell its waits from its work.
  void add_waits(std::size_t i) {
    for (const TraceEvent& op : operation_events(i)) {
      if (op.ready < op.start || class_of(*op.op) == OpClass::kCollective) {
        add_event(op);
      }
    }
  }

  /// The action's own event: the same as among its operations.
  void add_whole(std::size_t i) {
    const ActionOperations selection = operations_of(*work_.program, work_.program->actions[i]);
    TraceEvent event = event_of(i);
    std::optional<std::int32_t> first;
    std::optional<TimePoint> start;
    for (std::size_t p = 0; p < work_.pieces(i).size(); ++p) {
      const Piece& piece = work_.pieces(i)[p];
      const NodeIndex node = work_.nodes(i)[p];
      for (const PricedOperation& priced : piece.ops) {
        if (!first || priced.op < *first) {
          first = priced.op;
        }
        const TimePoint begin(start_of(node) + priced.start);
        start = start ? std::min(*start, begin) : begin;
        event.end = std::max(event.end, begin + priced.duration);
      }
    }
    take_compute_stream(i);
    event.stream = selection.ops[static_cast<std::size_t>(first.value())].stream;
    event.start = start.value();
    const Amounts& amounts = amounts_of(i, selection);
    event.bytes = amounts.bytes;
    event.flops = amounts.flops;
    event.ready = ready_within(event, ready_of(work_.nodes(i).front()));
    add_event(event);
    if (is_optimizer(event.action)) {
      add_waits(i);
    }
  }

  struct Amounts {
    Bytes bytes{};
    Flops flops{};
  };

  /// Of an action's operations; those of other micro-batches in the same phase do as much.
  [[nodiscard]] const Amounts& amounts_of(std::size_t i, const ActionOperations& selection) {
    const auto [found, is_new] =
        amounts_.try_emplace({&work_.pieces(i), selection.ops.data()}, Amounts{});
    Amounts& amounts = found->second;
    if (is_new) {
      for (const Piece& piece : work_.pieces(i)) {
        for (const PricedOperation& priced : piece.ops) {
          const Operation& op = selection.ops[static_cast<std::size_t>(priced.op)];
          amounts.bytes += bytes_moved(op);
          amounts.flops += flops_of(op);
        }
      }
    }
    return amounts;
  }

  [[nodiscard]] static TimePoint ready_within(const TraceEvent& action, Duration ready) {
    return std::clamp(TimePoint(ready), action.posted, std::max(action.posted, action.start));
  }

  [[nodiscard]] static TraceEvent whole(TraceEvent action,
                                        const std::vector<TraceEvent>& ops,
                                        Duration ready) {
    action.stream = ops.front().stream;
    action.start = ops.front().start;
    for (const TraceEvent& op : ops) {
      action.start = std::min(action.start, op.start);
      action.end = std::max(action.end, op.end);
      action.bytes += op.bytes;
      action.flops += op.flops;
    }
    action.ready = ready_within(action, ready);
    return action;
  }

  /// When the operation of a change starts; in issue order, as memory is taken.
  [[nodiscard]] TimePoint time_of(const MemoryChange& change) const {
    TimePoint at = samples.empty() ? TimePoint() : samples.back().at;
    for (auto event = events.rbegin();
         event != events.rend() && event->action_index == change.at.action;
         ++event) {
      if (event->stream == kComputeStream && event->op_index == change.at.op) {
        at = std::max(at, event->start);
      }
    }
    return at;
  }

  /// Memory changes in issue order, which computation follows; what is issued meanwhile counts to
  /// the computation before it.
  void add_sample(const LiveBytes& live) {
    const TraceEvent& event = *std::find_if(
        events.rbegin(), events.rend(), [](const TraceEvent& e) { return !e.op_index; });
    const TimePoint before = samples.empty() ? TimePoint() : samples.back().at;
    const bool computes = event.stream == kComputeStream;
    const TimePoint at = computes ? std::max(before, event.start) : before;
    if (!samples.empty() && at == before) {
      if (total_of(live) > total_of(samples.back().live)) {
        samples.back().live = live;
      }
      return;
    }
    samples.push_back({work_.rank, 0, at, live});
  }

  const Schedule& schedule_;
  const StepGraph& step_;
  const StepTimes& times_;
  const ClassWork& work_;
  TraceDetail detail_;
  Duration compute_free_{};
  /// By phase, and the operations that its numbers speak of.
  std::map<std::pair<const std::vector<Piece>*, const Operation*>, Amounts> amounts_;
};

std::vector<std::string> stream_names(const Schedule& schedule) {
  std::vector<std::string> names = schedule.streams;
  for (const ActionKind kind : kMessageKinds) {
    names.emplace_back(name_of(kind));
  }
  return names;
}

void append(const ClassTrace& of_class, RankId rank, Trace& trace) {
  for (TraceEvent event : of_class.events) {
    event.rank = rank;
    trace.events.push_back(event);
  }
  for (MemorySample sample : of_class.samples) {
    sample.rank = rank;
    trace.memory.push_back(sample);
  }
}

}  // namespace

Trace predicted_trace(const Schedule& schedule,
                      const RankClasses& classes,
                      const StepGraph& step,
                      const StepTimes& times,
                      const SimulationOptions& options) {
  Trace trace;
  trace.clock = "model";
  if (options.sign_trace) {
    trace.schedule_hash = schedule_hash(schedule);
  }
  trace.model = schedule.model_name;
  trace.plan_summary = schedule.schedule_name;
  trace.ranks = static_cast<std::int32_t>(schedule.ranks.size());
  trace.tokens_per_step = std::int64_t{schedule.replicas} * schedule.micro_batches *
                          schedule.micro_batch_size * schedule.sequence;
  trace.streams = stream_names(schedule);
  trace.step_times = {times.makespan};
  std::vector<ClassTrace> of_class;
  for (const ClassWork& work : step.classes) {
    of_class.emplace_back(schedule, step, times, work, options.trace).run();
  }
  std::vector<RankId> traced;
  std::size_t events = 0;
  std::size_t samples = 0;
  for (std::size_t rank = 0; rank < classes.class_of_rank.size(); ++rank) {
    const std::size_t c = classes.class_of_rank[rank];
    if (options.trace_all_ranks || classes.lowest[c] == RankId(rank)) {
      traced.emplace_back(rank);
      events += of_class[c].events.size();
      samples += of_class[c].samples.size();
    }
  }
  trace.events.reserve(events);
  trace.memory.reserve(samples);
  for (const RankId rank : traced) {
    append(of_class[classes.class_of_rank[rank.index()]], rank, trace);
  }
  return trace;
}

}  // namespace stagewright
