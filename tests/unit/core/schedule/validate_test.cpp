#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/schedule/rank_classes.h"
#include "core/schedule/semantics.h"
#include "tests/support/toy_schedule.h"

namespace stagewright {
namespace {

/// "ok", or the whole error.
std::string verdict_of(const Schedule& schedule) {
  const auto checked = validate(schedule);
  return checked ? "ok" : checked.error().to_string();
}
std::string verdict(const std::vector<std::string>& ranks) {
  return verdict_of(toy_schedule(ranks));
}

TEST(Validate, AcceptsGoodLists) {
  EXPECT_EQ(verdict(toy_1f1b(1, 1)), "ok");
  EXPECT_EQ(verdict(toy_1f1b(2, 1)), "ok");
  EXPECT_EQ(verdict(toy_1f1b(4, 8)), "ok");
  EXPECT_EQ(verdict_of(toy_schedule(toy_1f1b(4, 8), {.replicas = 3})), "ok");
  // Forward only; split backward; recomputation; two stages on a rank; loads, reduction, step.
  EXPECT_EQ(verdict({"0F0 0SEND_F0 0F1 0SEND_F1", "1RECV_F0 1F0 1RECV_F1 1F1"}), "ok");
  EXPECT_EQ(verdict({"0LOAD0 0F0 1F0 1I0 0R0 0I0 1W0 0W0 REDUCE0 REDUCE1 STEP"}), "ok");
  EXPECT_EQ(verdict({"0F0 0SEND_F0 2RECV_F0 2F0 2B0 2SEND_B0 0RECV_B0 0B0",
                     "1RECV_F0 1F0 1SEND_F0 1RECV_B0 1B0 1SEND_B0"}),
            "ok");
}

TEST(Validate, AStageMustRunEveryMicroBatchOnce) {
  EXPECT_EQ(verdict({"0F0 0B0 0B1"}), "stage 0 never runs micro-batch 1; add 0F1 and its backward");
  EXPECT_EQ(verdict({"0F0 0B0 0F1"}),
            "rank 0: stage 0, micro-batch 1 runs forward but never backward");
  EXPECT_EQ(verdict({"0F0 0F0 0B0"}), "rank 0 action 1 (0F0): stands in the list twice");
  EXPECT_EQ(verdict({"0F0 0B0 0B0"}), "rank 0 action 2 (0B0): stands in the list twice");
  EXPECT_EQ(verdict({"0F0 0I0"}),
            "rank 0: the backward of stage 0, micro-batch 0 lacks its weight half; add 0W0");
  EXPECT_EQ(verdict({"0F0 0W0"}),
            "rank 0: the backward of stage 0, micro-batch 0 lacks its input half; add 0I0");
  EXPECT_EQ(verdict({"0F0 0B0 0I0 0W0"}),
            "rank 0: the backward of stage 0, micro-batch 0 runs whole and in halves; choose one");
  EXPECT_EQ(verdict({"0F0 0B0", "1RECV_F0"}),
            "stage 1 never runs micro-batch 0; add 1F0 and its backward");
}

TEST(Validate, RanksThatShareAStageDivideItsMicroBatches) {
  // Two copies of one pipeline in opposite directions.
  const std::vector<std::string> both_ways{"0F0 0SEND_F0 1RECV_F1 1F1 1B1 1SEND_B1 0RECV_B0 0B0",
                                           "0F1 0SEND_F1 1RECV_F0 1F0 1B0 1SEND_B0 0RECV_B1 0B1"};
  EXPECT_EQ(verdict(both_ways), "ok");
  EXPECT_EQ(verdict({"0F0 0B0 0F1 0B1", "0F1 0B1"}),
            "stage 0 runs micro-batch 1 on rank 0 and again on rank 1, whose other micro-batches "
            "differ");
}

TEST(Validate, AnActionComesAfterWhatItNeeds) {
  EXPECT_EQ(verdict({"0B0 0F0"}), "rank 0 action 0 (0B0): needs 0F0 before it");
  EXPECT_EQ(verdict({"0F0 0W0 0I0"}), "rank 0 action 1 (0W0): needs 0I0 before it");
  EXPECT_EQ(verdict({"0F0 0B0 0R0"}),
            "rank 0 action 2 (0R0): comes after the backward that it is for");
  EXPECT_EQ(verdict({"0F0 0LOAD0 0B0"}), "rank 0 action 0 (0F0): needs 0LOAD0 before it");
  EXPECT_EQ(verdict({"0F0 1F0 0B0 1B0"}),
            "rank 0 action 2 (0B0): needs its gradient before it: 0RECV_B0, or the backward of "
            "stage 1 on this rank");
  EXPECT_EQ(verdict({"1F0 0F0 1B0 0B0"}),
            "rank 0 action 0 (1F0): needs its input before it: 1RECV_F0, or 0F0 on this rank");
  EXPECT_EQ(verdict({"0SEND_F0 0F0 0RECV_B0 0B0", "1RECV_F0 1F0 1B0 1SEND_B0"}),
            "rank 0 action 0 (0SEND_F0): needs 0F0 before it");
  EXPECT_EQ(verdict({"0F0 0SEND_F0 0RECV_B0 0B0", "1RECV_F0 1F0 1SEND_B0 1B0"}),
            "rank 1 action 2 (1SEND_B0): needs 1B0 or 1I0 before it");
  EXPECT_EQ(verdict({"0F0 0SEND_F0 0RECV_B0 0B0", "1F0 1RECV_F0 1B0 1SEND_B0"}),
            "rank 1 action 0 (1F0): needs its input before it: 1RECV_F0, or 0F0 on this rank");
}

TEST(Validate, AStepUsesReducedGradients) {
  EXPECT_EQ(
      verdict({"0F0 0B0 0F1 REDUCE0 0B1 STEP"}),
      "rank 0 action 5 (STEP): uses gradients of bucket 0 that no REDUCE0 completed after 0B1");
  EXPECT_EQ(verdict({"0F0 0B0 0F1 0B1 REDUCE0 STEP"}), "ok");
}

TEST(Validate, AnOperationReadsOnlyWhatWasWritten) {
  Schedule schedule = toy_schedule({"0F0 0B0 0F1 0B1"});
  RankProgram& program = schedule.programs[0];
  program.tensors.push_back({"saved",
                             DType::kFloat32,
                             {4},
                             TensorClass::kActivation,
                             TensorScope::kMicroBatch,
                             std::nullopt});
  program.stages[0].backward[1].inputs.push_back(TensorId(program.tensors.size() - 1));
  EXPECT_EQ(verdict_of(schedule),
            "rank 0 action 1 (0B0): operation 1 reads 'saved', which nothing wrote before");
}

TEST(Validate, EveryMessageHasItsPartner) {
  EXPECT_EQ(verdict({"0F0 0SEND_F0 0SEND_F0 0RECV_B0 0B0", "1RECV_F0 1F0 1B0 1SEND_B0"}),
            "rank 0 action 2 (0SEND_F0): is sent 2 times to rank 1, which receives it once");
  EXPECT_EQ(verdict({"0F0 0RECV_B0 0B0", "1RECV_F0 1F0 1B0 1SEND_B0"}),
            "rank 1 action 0 (1RECV_F0): is received once from rank 0, which sends it never");
  EXPECT_EQ(verdict({"0F0 0SEND_F0 0RECV_B0 0B0", "1RECV_F0 1F0 1B0"}),
            "rank 0 action 2 (0RECV_B0): is received once from rank 1, which sends it never");
}

TEST(Validate, MessagesOfAChannelKeepOneOrder) {
  EXPECT_EQ(verdict({"0F0 0F1 0SEND_F1 0SEND_F0", "1RECV_F0 1RECV_F1 1F0 1F1"}),
            "rank 0 action 2 (0SEND_F1): is message 0 from rank 0 to rank 1, which receives "
            "1RECV_F0 as its message 0; use one order on both sides");
}

TEST(Validate, MessagesHaveOneSizeOnBothSides) {
  Schedule schedule = toy_schedule({"0F0 0SEND_F0", "1RECV_F0 1F0"});
  RankProgram& receiver = schedule.programs[1];
  receiver.tensors[receiver.stages[0].input->index()].shape = {4, 7};
  EXPECT_EQ(verdict_of(schedule),
            "rank 0 action 1 (0SEND_F0): sends 128 bytes, but rank 1 action 0 (1RECV_F0) expects "
            "112");
}

TEST(Validate, MembersOfAGroupIssueEqualCollectives) {
  const auto make = [] {
    Schedule schedule = toy_schedule({"0F0 0B0 REDUCE0 STEP"}, {.replicas = 2});
    schedule.programs.push_back(schedule.programs[0]);
    schedule.ranks[1].program = ProgramId(1);
    return schedule;
  };
  EXPECT_EQ(verdict_of(make()), "ok");

  Schedule other_size = make();
  other_size.programs[1].buckets[0].reduce[0].shape.cols = 63;
  EXPECT_EQ(verdict_of(other_size),
            "group 0 (data): as its collective 0, rank 0 action 2 (REDUCE0), operation 0 "
            "(all-reduce of 64 fp32) meets rank 1 action 2 (REDUCE0), operation 0 (all-reduce of "
            "63 fp32); all members must issue the same ones in one order");

  Schedule one_more = make();
  one_more.programs[1].buckets[0].reduce.push_back(one_more.programs[1].buckets[0].reduce[0]);
  EXPECT_EQ(verdict_of(one_more),
            "group 0 (data): rank 1 action 2 (REDUCE0), operation 1 (all-reduce of 64 fp32) is "
            "collective 1 of its rank, but rank 0 issues only 1");

  Schedule without = make();
  without.ranks[1].groups.clear();
  without.ranks[1].positions.clear();
  without.programs[1].actions = toy_schedule({"0F0 0B0"}).programs[0].actions;
  without.programs[1].buckets.clear();
  EXPECT_EQ(verdict_of(without),
            "group 0 (data): rank 0 action 2 (REDUCE0), operation 0 (all-reduce of 64 fp32) is "
            "collective 0 of its rank, but rank 1 issues only 0");
}

TEST(Validate, ADeadlockOfMessagesNamesItsCycle) {
  // Rank 0 first sends all activations, rank 1 wants to hand each gradient back at once: with one
  // unfinished send per channel both get stuck in their second send.  The first gradient goes where
  // the third activation lies until it is sent.
  EXPECT_EQ(verdict({"0F0 0SEND_F0 0F1 0SEND_F1 0F2 0SEND_F2 0F3 0SEND_F3 "
                     "0RECV_B0 0B0 0RECV_B1 0B1 0RECV_B2 0B2 0RECV_B3 0B3",
                     "1RECV_F0 1F0 1B0 1SEND_B0 1RECV_F1 1F1 1B1 1SEND_B1 "
                     "1RECV_F2 1F2 1B2 1SEND_B2 1RECV_F3 1F3 1B3 1SEND_B3"}),
            "deadlock: rank 0 action 5 (0SEND_F2) waits for rank 1 action 8 (1RECV_F2), "
            "which waits for rank 1 action 7 (1SEND_B1), "
            "which waits for rank 1 action 3 (1SEND_B0), "
            "which waits for rank 0 action 8 (0RECV_B0), "
            "which waits for rank 0 action 5 (0SEND_F2)");
}

/// Two ranks in two groups, whose collectives they issue in opposite order.
Schedule crossed_collectives(StreamId first, StreamId second) {
  Schedule schedule = toy_schedule({"0F0 0B0 REDUCE0"}, {.replicas = 2});
  schedule.streams = {"compute", "a", "b"};
  schedule.groups.push_back({"tensor", schedule.groups[0].members});
  schedule.programs.push_back(schedule.programs[0]);
  schedule.ranks[1].program = ProgramId(1);
  for (std::size_t r = 0; r < 2; ++r) {
    schedule.ranks[r].groups.emplace_back(1);
    schedule.ranks[r].positions.push_back(static_cast<std::int32_t>(r));
    RankProgram& program = schedule.programs[r];
    std::vector<Operation>& reduce = program.buckets[0].reduce;
    reduce[0].stream = first;
    Operation other = reduce[0];
    other.group = GroupSlot(1);
    other.stream = second;
    other.inputs = other.outputs = {program.stages[0].forward[0].inputs[1]};
    reduce.insert(r == 0 ? reduce.end() : reduce.begin(), other);
  }
  return schedule;
}

TEST(Validate, CollectivesOfTwoGroupsInOppositeOrderDeadlockOnOneStream) {
  EXPECT_EQ(verdict_of(crossed_collectives(StreamId(1), StreamId(2))), "ok");
  EXPECT_EQ(verdict_of(crossed_collectives(StreamId(1), StreamId(1))),
            "deadlock: rank 0 action 2 (REDUCE0, operation 0: all-reduce) waits for "
            "rank 1 action 2 (REDUCE0, operation 1: all-reduce), which waits for "
            "rank 1 action 2 (REDUCE0, operation 0: all-reduce), which waits for "
            "rank 0 action 2 (REDUCE0, operation 1: all-reduce), which waits for "
            "rank 0 action 2 (REDUCE0, operation 0: all-reduce)");
}

TEST(Validate, ReplicasAreOneClassOfRanksEach) {
  const Schedule schedule = toy_schedule(toy_1f1b(3, 4), {.replicas = 5});
  EXPECT_EQ(classify_ranks(schedule).lowest,
            (std::vector<RankId>{RankId(0), RankId(1), RankId(2)}));
}

TEST(MatchMessages, PairsTheTwoSides) {
  const Schedule schedule =
      toy_schedule({"0F0 0SEND_F0 0RECV_B0 0B0", "1RECV_F0 1F0 1B0 1SEND_B0"}, {.replicas = 2});
  using Matches = std::vector<std::vector<std::optional<Match>>>;
  const auto none = std::nullopt;
  EXPECT_EQ(match_messages(schedule).value(),
            (Matches{{none, Match{RankId(1), 0}, Match{RankId(1), 3}, none},
                     {Match{RankId(0), 1}, none, none, Match{RankId(0), 2}},
                     {none, Match{RankId(3), 0}, Match{RankId(3), 3}, none},
                     {Match{RankId(2), 1}, none, none, Match{RankId(2), 2}}}));
}

TEST(NextSendOnChannel, CountsEachPeerAndKindForItself) {
  const Schedule schedule =
      toy_schedule({"0F0 0F1",
                    "1RECV_F0 1F0 1SEND_F0 1RECV_F1 1F1 1SEND_F1 1B0 1SEND_B0 1B1 1SEND_B1",
                    "2F0 2F1"});
  std::vector<std::optional<std::int32_t>> expected(10);
  expected[2] = 5;
  expected[7] = 9;
  EXPECT_EQ(next_send_on_channel(schedule.programs[1].actions), expected);
}

}  // namespace
}  // namespace stagewright
