#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/trace/trace.h"

namespace stagewright::test {

inline TraceEvent event(
    std::int32_t rank, std::int32_t action_index, ActionKind kind, Duration start, Duration end) {
  TraceEvent event;
  event.rank = RankId(rank);
  event.action_index = action_index;
  event.action = kind;
  event.start = TimePoint(start);
  event.end = TimePoint(end);
  return event;
}

inline TraceEvent operation(TraceEvent action,
                            std::int32_t op_index,
                            OpKind op,
                            Duration start,
                            Duration end,
                            StreamId stream = kComputeStream) {
  action.op_index = op_index;
  action.op = op;
  action.stream = stream;
  action.start = TimePoint(start);
  action.end = TimePoint(end);
  return action;
}

/// One step of two ranks, 100 us:
///
///   rank 0: F 0-20 (gemm 0-15, copy 15-20), RECV_B 40-50, B 50-90
///   rank 1: F 20-40, B 40-70; REDUCE 70-100 (all-reduce on stream 1)
inline Trace predicted_toy() {
  using namespace std::chrono_literals;
  Trace trace;
  trace.schedule_hash = "abc";
  trace.ranks = 2;
  trace.tokens_per_step = 1000;
  trace.streams = {"compute", "data"};
  trace.step_times = {100us};
  const TraceEvent forward = event(0, 0, ActionKind::kForward, 0us, 20us);
  trace.events = {forward,
                  operation(forward, 0, OpKind::kGemm, 0us, 15us),
                  operation(forward, 1, OpKind::kCopy, 15us, 20us),
                  event(0, 1, ActionKind::kRecvGradient, 40us, 50us),
                  event(0, 2, ActionKind::kBackward, 50us, 90us),
                  event(1, 0, ActionKind::kForward, 20us, 40us),
                  event(1, 1, ActionKind::kBackward, 40us, 70us)};
  TraceEvent reduce = event(1, 2, ActionKind::kReduceGradients, 70us, 100us);
  reduce.stream = StreamId(1);
  trace.events.push_back(reduce);
  trace.events.push_back(operation(reduce, 0, OpKind::kAllReduce, 70us, 100us, StreamId(1)));
  MemorySample sample;
  sample.live[static_cast<std::size_t>(TensorClass::kParameter)] = Bytes(400);
  sample.live[static_cast<std::size_t>(TensorClass::kActivation)] = Bytes(100);
  trace.memory = {sample};
  sample.at = TimePoint(50us);
  sample.live[static_cast<std::size_t>(TensorClass::kActivation)] = Bytes(300);
  trace.memory.push_back(sample);
  return trace;
}

/// The same as if it had been measured `steps` times.
inline Trace measured_toy(std::int32_t steps) {
  const Trace once = predicted_toy();
  Trace trace = once;
  trace.measured = true;
  trace.steps = steps;
  trace.step_times.assign(static_cast<std::size_t>(steps), once.step_times.front());
  trace.events.clear();
  trace.memory.clear();
  for (std::int32_t step = 0; step < steps; ++step) {
    for (TraceEvent copy : once.events) {
      copy.step = step;
      trace.events.push_back(copy);
    }
    for (MemorySample copy : once.memory) {
      copy.step = step;
      trace.memory.push_back(copy);
    }
  }
  return trace;
}

}  // namespace stagewright::test
