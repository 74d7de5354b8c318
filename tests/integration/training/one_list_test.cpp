#include <algorithm>
#include <map>
#include <tuple>

#include <gtest/gtest.h>

#include "runtime/executor/executed_operation.h"
#include "sim/cost/cost_model.h"
#include "sim/engine/static_pass.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {

void PrintTo(const ExecutedOperation& operation, std::ostream* out) {
  *out << name_of(operation.action) << " " << operation.action_index;
  if (operation.kind) {
    *out << "." << *operation.op_index << " " << name_of(*operation.kind);
  }
  *out << " on stream " << operation.stream.value() << ", " << operation.bytes.count() << " B";
}

namespace {

using List = std::vector<ExecutedOperation>;

/// Messages of one kind to or from different peers have a stream in common, but no order.
[[nodiscard]] std::tuple<StreamId, RankId> queue_of(const ExecutedOperation& operation) {
  const bool is_message = is_send(operation.action) || is_receive(operation.action);
  return {operation.stream, is_message ? operation.group.front() : RankId(0)};
}

[[nodiscard]] List by_queue(List operations) {
  std::ranges::stable_sort(operations, {}, queue_of);
  return operations;
}

/// What the simulator priced on a rank: by queue, each in the order of its start times.
[[nodiscard]] List priced(const Schedule& schedule, const Trace& trace, RankId rank) {
  const RankBinding& binding = schedule.ranks[rank.index()];
  const RankProgram& program = schedule.programs[binding.program.index()];
  std::vector<TraceEvent> events;
  std::ranges::copy_if(trace.events, std::back_inserter(events), [&](const TraceEvent& event) {
    if (event.rank != rank) {
      return false;
    }
    const Action& action = program.actions[static_cast<std::size_t>(event.action_index)];
    const bool has_operations = !operations_of(program, action).ops.empty();
    return event.op_index.has_value() == has_operations;
  });
  std::ranges::stable_sort(events, {}, &TraceEvent::start);
  List list;
  for (const TraceEvent& event : events) {
    const Action& action = program.actions[static_cast<std::size_t>(event.action_index)];
    ExecutedOperation entry;
    entry.stream = event.stream;
    entry.action = event.action;
    entry.action_index = event.action_index;
    entry.op_index = event.op_index;
    entry.kind = event.op;
    entry.bytes = event.bytes;
    if (event.op_index) {
      const Operation& operation =
          operations_of(program, action).ops[static_cast<std::size_t>(*event.op_index)];
      entry.shape = operation.shape;
      if (operation.group) {
        entry.group = schedule.groups[binding.groups[operation.group->index()].index()].members;
      }
    } else if (is_send(action.kind) || is_receive(action.kind)) {
      entry.group = {binding.peers[action.peer.index()]};
    }
    list.push_back(std::move(entry));
  }
  return by_queue(std::move(list));
}

class OneList : public testing::TestWithParam<Layout> {};

// Kind, shape, bytes, group and the order per stream: there is no second list.
TEST_P(OneList, ExecutedOperationsAreThePricedOnes) {
  for (const Style style : styles_of(GetParam())) {
    const Schedule schedule = schedule_of(small_model(style), GetParam(), adamw());
    const auto predicted = simulate(schedule,
                                    cluster_of(GetParam()),
                                    *make_analytical_cost(),
                                    {.trace = TraceDetail::kOperations, .trace_all_ranks = true});
    ASSERT_TRUE(predicted) << predicted.error().to_string();
    const auto report = train(schedule, 2);
    ASSERT_TRUE(report) << report.error().to_string();
    for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
      EXPECT_EQ(by_queue(report->executed[rank]), priced(schedule, predicted->trace, RankId(rank)))
          << "rank " << rank;
    }
  }
}

/// An event without its times.
using Identity = std::tuple<RankId,
                            std::int32_t,
                            std::optional<std::int32_t>,
                            StreamId,
                            ActionKind,
                            std::optional<OpKind>,
                            StageId,
                            MicroBatchId,
                            Bytes,
                            double>;

[[nodiscard]] std::vector<Identity> identities(const Trace& trace, std::int32_t step) {
  std::vector<Identity> all;
  for (const TraceEvent& e : trace.events) {
    if (e.step == step) {
      all.emplace_back(e.rank,
                       e.action_index,
                       e.op_index,
                       e.stream,
                       e.action,
                       e.op,
                       e.stage,
                       e.micro_batch,
                       e.bytes,
                       e.flops.count());
    }
  }
  return all;
}

TEST_P(OneList, MeasuredAndPredictedTracesHoldTheSameEvents) {
  const Schedule schedule =
      schedule_of(small_model(styles_of(GetParam()).front()), GetParam(), adamw());
  const auto predicted = simulate(schedule,
                                  cluster_of(GetParam()),
                                  *make_analytical_cost(),
                                  {.trace = TraceDetail::kOperations, .trace_all_ranks = true});
  const auto report = train(schedule, 2);
  ASSERT_TRUE(predicted && report);
  EXPECT_EQ(identities(report->trace, 1), identities(predicted->trace, 0));
  EXPECT_EQ(report->trace.schedule_hash, predicted->trace.schedule_hash);
  EXPECT_EQ(report->trace.streams, predicted->trace.streams);
  EXPECT_EQ(report->trace.tokens_per_step, predicted->trace.tokens_per_step);
  for (const TraceEvent& event : report->trace.events) {
    EXPECT_LE(event.posted, event.ready);
    EXPECT_LE(event.ready, event.start);
    EXPECT_LE(event.start, event.end);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts,
                         OneList,
                         testing::ValuesIn(all_layouts()),
                         [](const auto& chosen) { return chosen.param.name; });

}  // namespace
}  // namespace stagewright
