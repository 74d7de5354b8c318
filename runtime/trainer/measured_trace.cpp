#include "runtime/trainer/measured_trace.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/base/version.h"

namespace stagewright {

namespace {

/// Times of a step, counted from its begin.
class StepEvents {
 public:
  StepEvents(const RankPlan& plan, const StepRecord& record, TimePoint begin, Trace& trace)
      : plan_(plan), record_(record), begin_(begin), trace_(trace) {}

  void add() {
    const std::vector<Instruction>& instructions = plan_.instructions;
    for (std::size_t first = 0; first < instructions.size();) {
      std::size_t last = first;
      while (last + 1 < instructions.size() &&
             instructions[last + 1].action == instructions[first].action) {
        ++last;
      }
      add_action(first, last);
      first = last + 1;
    }
    for (const StepRecord::MemoryChange& change : record_.memory) {
      trace_.memory.push_back({plan_.rank, record_.step, since_begin(change.at), change.live});
    }
  }

 private:
  [[nodiscard]] TimePoint since_begin(TimePoint at) const { return TimePoint(at - begin_); }

  [[nodiscard]] TraceEvent event_of(std::size_t index) const {
    const Instruction& instruction = plan_.instructions[index];
    const Action& action = plan_.program->actions[static_cast<std::size_t>(instruction.action)];
    const InstructionTimes& times = record_.times[index];
    TraceEvent event;
    event.rank = plan_.rank;
    event.stream = plan_.lanes[instruction.lane.index()].stream;
    event.step = record_.step;
    event.action_index = instruction.action;
    event.action = action.kind;
    event.stage = action.stage;
    event.micro_batch = action.micro_batch;
    event.posted = since_begin(times.posted);
    event.ready = std::max(event.posted, since_begin(times.ready));
    event.start = std::max(event.ready, since_begin(times.start));
    event.end = std::max(event.start, since_begin(times.end));
    event.bytes = instruction.bytes;
    event.flops = instruction.flops;
    return event;
  }

  void add_action(std::size_t first, std::size_t last) {
    TraceEvent whole = event_of(first);
    const std::size_t place = trace_.events.size();
    trace_.events.push_back(whole);
    if (plan_.instructions[first].operation == nullptr) {
      return;
    }
    for (std::size_t i = first; i <= last; ++i) {
      TraceEvent event = event_of(i);
      event.op_index = plan_.instructions[i].op;
      event.op = plan_.instructions[i].operation->kind;
      if (i > first) {
        whole.start = std::min(whole.start, event.start);
        whole.ready = std::min(whole.ready, event.ready);
        whole.posted = std::min(whole.posted, event.posted);
        whole.end = std::max(whole.end, event.end);
        whole.bytes += event.bytes;
        whole.flops += event.flops;
      }
      trace_.events.push_back(event);
    }
    trace_.events[place] = whole;
  }

  const RankPlan& plan_;
  const StepRecord& record_;
  TimePoint begin_;
  Trace& trace_;
};

[[nodiscard]] std::vector<std::string> stream_names(const Schedule& schedule) {
  std::vector<std::string> names = schedule.streams;
  for (const ActionKind kind : {ActionKind::kSendActivation,
                                ActionKind::kRecvActivation,
                                ActionKind::kSendGradient,
                                ActionKind::kRecvGradient}) {
    names.emplace_back(name_of(kind));
  }
  return names;
}

}  // namespace

Trace measured_trace(const Schedule& schedule,
                     std::span<const RankMeasurements> ranks,
                     std::string_view clock) {
  Trace trace;
  trace.measured = true;
  trace.clock = clock;
  trace.schedule_hash = schedule_hash(schedule);
  trace.model = schedule.model_name;
  trace.plan_summary = schedule.schedule_name;
  trace.ranks = static_cast<std::int32_t>(ranks.size());
  trace.tokens_per_step = std::int64_t{schedule.replicas} * schedule.micro_batches *
                          schedule.micro_batch_size * schedule.sequence;
  trace.streams = stream_names(schedule);
  trace.made_by["program"] = "stagewright " + std::string(version());
  const std::size_t steps = ranks.front().steps.size();
  trace.steps = static_cast<std::int32_t>(steps);
  std::vector<TimePoint> begins;
  for (std::size_t step = 0; step < steps; ++step) {
    TimePoint begin = ranks.front().steps[step].begin;
    TimePoint end = ranks.front().steps[step].end;
    for (const RankMeasurements& rank : ranks) {
      begin = std::min(begin, rank.steps[step].begin);
      end = std::max(end, rank.steps[step].end);
    }
    begins.push_back(begin);
    trace.step_times.push_back(end - begin);
  }
  for (const RankMeasurements& rank : ranks) {
    for (std::size_t step = 0; step < steps; ++step) {
      if (!rank.steps[step].times.empty()) {
        StepEvents(*rank.plan, rank.steps[step], begins[step], trace).add();
      }
    }
    if (trace.losses.empty()) {
      for (const StepTotals& totals : rank.totals) {
        trace.losses.push_back(totals.loss);
        trace.gradient_norms.push_back(std::sqrt(totals.squared_norm));
      }
    }
  }
  return trace;
}

}  // namespace stagewright
