#include "runtime/profiler/segment_samples.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/profile/duration_samples.h"
#include "core/schedule/lifetimes.h"

namespace stagewright {

namespace {

/// Operations [first, last] of a selection.
struct Run {
  std::size_t first = 0;
  std::size_t last = 0;
  auto operator<=>(const Run&) const = default;
};

/// What an action runs, worked out once for all actions alike.
struct Selection {
  std::vector<Operation> ops;
  std::vector<std::string> keys;  ///< by operation; empty for collectives
  struct Segment {
    Run run;
    std::string key;
    std::string name;
    Bytes memory{};
  };
  std::vector<Segment> segments;
};

[[nodiscard]] bool computes(const Operation& op) {
  return op.stream == kComputeStream && class_of(op.kind) != OpClass::kCollective;
}

/// The runs that a price may cover as a whole, of two operations or more.
[[nodiscard]] std::set<Run> runs_of(const std::vector<Operation>& ops) {
  std::set<Run> runs;
  if (ops.size() > 1 && std::ranges::all_of(ops, computes)) {
    runs.insert({0, ops.size() - 1});
  }
  for (std::size_t first = 0; first < ops.size(); ++first) {
    std::size_t last = first;
    while (computes(ops[first]) && last + 1 < ops.size() && computes(ops[last + 1]) &&
           ops[last + 1].layer == ops[first].layer) {
      ++last;
    }
    if (last > first) {
      runs.insert({first, last});
    }
    first = last;
  }
  return runs;
}

[[nodiscard]] std::string_view role_of(std::span<const Operation> ops) {
  const auto any = [ops](std::initializer_list<OpKind> kinds) {
    return std::ranges::any_of(
        ops, [&](const Operation& op) { return std::ranges::find(kinds, op.kind) != kinds.end(); });
  };
  const bool embedding = any({OpKind::kEmbeddingForward, OpKind::kEmbeddingGradient});
  const bool block = any({OpKind::kAttentionForward, OpKind::kAttentionBackward});
  const bool head = any({OpKind::kLossRowMax, OpKind::kLossGradient});
  if (embedding + block + head > 1) {
    return "stage";
  }
  return embedding ? "embedding" : block ? "block" : head ? "head" : "part";
}

/// High-water mark of the tensors that the run makes.
[[nodiscard]] Bytes memory_of(const std::vector<Lifetime>& all,
                              std::int32_t action,
                              std::int32_t first_op,
                              std::int32_t last_op) {
  const ProgramPoint begin{action, first_op};
  const ProgramPoint end{action, last_op};
  std::vector<Lifetime> own;
  std::ranges::copy_if(all, std::back_inserter(own), [&](const Lifetime& lifetime) {
    return lifetime.micro_batch && begin <= lifetime.first && lifetime.first <= end;
  });
  Bytes peak{};
  for (const Lifetime& at : own) {
    Bytes live{};
    for (const Lifetime& other : own) {
      if (other.first <= at.first && at.first <= other.last) {
        live += other.bytes;
      }
    }
    peak = std::max(peak, live);
  }
  return peak;
}

class Selections {
 public:
  Selections(const Schedule& schedule, const RankProgram& program)
      : schedule_(schedule), program_(program), lifetimes_(lifetimes(program)) {}

  [[nodiscard]] const Selection& of(std::int32_t action_index) {
    const Action& action = program_.actions[static_cast<std::size_t>(action_index)];
    const auto key = std::tuple(action.kind, action.stage, action.bucket);
    const auto [entry, is_new] = known_.try_emplace(key);
    if (is_new) {
      entry->second = make(action_index, action);
    }
    return entry->second;
  }

 private:
  [[nodiscard]] Selection make(std::int32_t action_index, const Action& action) const {
    Selection selection;
    std::vector<std::int32_t> places;
    const ActionOperations operations = operations_of(program_, action);
    for (std::size_t i = 0; i < operations.ops.size(); ++i) {
      const Operation& op = operations.ops[i];
      if (operations.includes(op)) {
        selection.ops.push_back(op);
        selection.keys.push_back(computes(op) ? cost_key(op) : "");
        places.push_back(static_cast<std::int32_t>(i));
      }
    }
    for (const Run& run : runs_of(selection.ops)) {
      const auto ops = std::span(selection.ops).subspan(run.first, run.last - run.first + 1);
      selection.segments.push_back(
          {run,
           cost_key(ops),
           fmt::format("{} {}, {} x {} tokens",
                       role_of(ops),
                       name_of(action.kind),
                       schedule_.micro_batch_size,
                       schedule_.sequence),
           memory_of(lifetimes_, action_index, places[run.first], places[run.last])});
    }
    return selection;
  }

  const Schedule& schedule_;
  const RankProgram& program_;
  std::vector<Lifetime> lifetimes_;
  std::map<std::tuple<ActionKind, StageId, BucketId>, Selection> known_;
};

/// Whether the rank does nothing else while the collective at `i` goes on: it could not begin
/// before the operation in front of it was over, and the one behind it waits for its end.
[[nodiscard]] bool holds_up(const Selection& selection,
                            std::span<const TraceEvent> events,
                            std::size_t i) {
  const TraceEvent& event = events[i];
  return i + 1 < events.size() && computes(selection.ops[i + 1]) &&
         events[i + 1].start >= event.end && i > 0 && computes(selection.ops[i - 1]) &&
         event.ready >= events[i - 1].end;
}

/// What a run took: its operations, and the time between one's end and the next one's turn.
[[nodiscard]] Duration time_of(std::span<const TraceEvent> events) {
  Duration sum = events.front().end - events.front().start;
  for (std::size_t i = 1; i < events.size(); ++i) {
    sum += events[i].end - events[i].start;
    sum += std::max(Duration{}, events[i].posted - events[i - 1].end);
  }
  return sum;
}

}  // namespace

void SegmentSamples::add(const Schedule& schedule, const Trace& trace, std::int32_t first_step) {
  std::map<ProgramId, Selections> of_program;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const TraceEvent& action = trace.events[i];
    if (action.op_index || action.step < first_step) {
      continue;
    }
    const ProgramId id = schedule.ranks[action.rank.index()].program;
    Selections& selections =
        of_program.try_emplace(id, schedule, schedule.programs[id.index()]).first->second;
    const Selection& selection = selections.of(action.action_index);
    if (selection.ops.empty()) {
      continue;
    }
    SW_CHECK(i + selection.ops.size() < trace.events.size(), "an event for every operation");
    const auto events = std::span(trace.events).subspan(i + 1, selection.ops.size());
    for (std::size_t op = 0; op < events.size(); ++op) {
      const Operation& operation = selection.ops[op];
      if (!selection.keys[op].empty()) {
        operations_[selection.keys[op]].push_back(events[op].end - events[op].start);
      } else if (is_collective(operation) && operation.layer && operation.group &&
                 holds_up(selection, events, op)) {
        const RankBinding& rank = schedule.ranks[action.rank.index()];
        const Group& group = schedule.groups[rank.groups[operation.group->index()].index()];
        collectives_[{std::string(name_of(operation.kind)),
                      static_cast<std::int32_t>(group.members.size()),
                      bytes_moved(operation).count()}]
            .push_back(events[op].end - events[op].ready);
      }
    }
    for (const Selection::Segment& segment : selection.segments) {
      const std::size_t size = segment.run.last - segment.run.first + 1;
      Segment& samples = segments_[segment.key];
      samples.name = segment.name;
      samples.operations = static_cast<std::int32_t>(size);
      samples.memory = std::max(samples.memory, segment.memory);
      samples.times.push_back(time_of(events.subspan(segment.run.first, size)));
    }
  }
}

std::vector<MeasuredOperation> SegmentSamples::operations() const {
  std::vector<MeasuredOperation> measured;
  for (const auto& [key, times] : operations_) {
    measured.push_back({key, summarize(times)});
  }
  return measured;
}

std::vector<MeasuredSegment> SegmentSamples::segments() const {
  std::vector<MeasuredSegment> measured;
  for (const auto& [key, segment] : segments_) {
    measured.push_back(
        {key, segment.name, segment.operations, summarize(segment.times), segment.memory});
  }
  return measured;
}

std::vector<MeasuredLink> SegmentSamples::links() const {
  std::vector<MeasuredLink> measured;
  for (const auto& [key, times] : collectives_) {
    const auto& [operation, ranks, bytes] = key;
    measured.push_back({operation, ranks, Bytes(bytes), summarize_mean(times), true});
  }
  return measured;
}

}  // namespace stagewright
