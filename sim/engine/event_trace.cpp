#include "sim/engine/event_trace.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace stagewright {
namespace {

constexpr ActionKind kMessageKinds[] = {ActionKind::kSendActivation,
                                        ActionKind::kRecvActivation,
                                        ActionKind::kSendGradient,
                                        ActionKind::kRecvGradient};

StreamId stream_of(const Schedule& schedule, const Action& action) {
  if (!is_send(action.kind) && !is_receive(action.kind)) {
    return kComputeStream;
  }
  const auto* const found = std::ranges::find(kMessageKinds, action.kind);
  return StreamId(schedule.streams.size() +
                  static_cast<std::size_t>(found - std::begin(kMessageKinds)));
}

TraceEvent event_of(const Schedule& schedule,
                    const RankProgram& program,
                    std::size_t action_index,
                    std::span<const NodeIndex> nodes,
                    const EventTimes& times) {
  const Action& action = program.actions[action_index];
  Duration start = Duration::max();
  Duration end{};
  for (const NodeIndex node : nodes) {
    start = std::min(start, times.start[static_cast<std::size_t>(node)]);
    end = std::max(end, times.end[static_cast<std::size_t>(node)]);
  }
  TraceEvent event;
  event.stream = stream_of(schedule, action);
  event.action_index = static_cast<std::int32_t>(action_index);
  event.action = action.kind;
  event.stage = action.stage;
  event.micro_batch = action.micro_batch;
  event.posted = event.ready = event.start = TimePoint(start);
  event.end = TimePoint(end);
  if (is_send(action.kind) || is_receive(action.kind)) {
    event.bytes = message_bytes(program, action);
  }
  return event;
}

}  // namespace

Trace event_trace(const Schedule& schedule,
                  const ScheduleEvents& events,
                  const EventTimes& times,
                  bool all_ranks) {
  Trace trace;
  trace.clock = "model";
  trace.schedule_hash = schedule_hash(schedule);
  trace.model = schedule.model_name;
  trace.plan_summary = schedule.schedule_name;
  trace.ranks = static_cast<std::int32_t>(schedule.ranks.size());
  trace.tokens_per_step = std::int64_t{schedule.replicas} * schedule.micro_batches *
                          schedule.micro_batch_size * schedule.sequence;
  trace.streams = schedule.streams;
  for (const ActionKind kind : kMessageKinds) {
    trace.streams.emplace_back(name_of(kind));
  }
  trace.step_times = {times.makespan};
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const RankId simulated = events.stands_for[rank];
    if (!all_ranks && simulated != RankId(rank)) {
      continue;
    }
    const RankProgram& program = schedule.programs[schedule.ranks[rank].program.index()];
    for (std::size_t i = 0; i < program.actions.size(); ++i) {
      const std::span<const NodeIndex> nodes = events.nodes_of(simulated, i);
      if (!nodes.empty()) {
        trace.events.push_back(event_of(schedule, program, i, nodes, times));
        trace.events.back().rank = RankId(rank);
      }
    }
  }
  return trace;
}

}  // namespace stagewright
