#include "core/schedule/action.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

TEST(Action, TextFormsAreThoseOfPipelineLists) {
  const StageId stage{2};
  const MicroBatchId micro_batch{3};
  const auto text = [&](ActionKind kind) {
    return to_string(Action{.kind = kind, .stage = stage, .micro_batch = micro_batch});
  };
  EXPECT_EQ(text(ActionKind::kLoadMicroBatch), "2LOAD3");
  EXPECT_EQ(text(ActionKind::kForward), "2F3");
  EXPECT_EQ(text(ActionKind::kBackward), "2B3");
  EXPECT_EQ(text(ActionKind::kBackwardInput), "2I3");
  EXPECT_EQ(text(ActionKind::kBackwardWeight), "2W3");
  EXPECT_EQ(text(ActionKind::kRecompute), "2R3");
  EXPECT_EQ(text(ActionKind::kSendActivation), "2SEND_F3");
  EXPECT_EQ(text(ActionKind::kRecvActivation), "2RECV_F3");
  EXPECT_EQ(text(ActionKind::kSendGradient), "2SEND_B3");
  EXPECT_EQ(text(ActionKind::kRecvGradient), "2RECV_B3");
  EXPECT_EQ(to_string(Action{.kind = ActionKind::kReduceGradients, .bucket = BucketId(4)}),
            "REDUCE4");
  EXPECT_EQ(to_string(Action{.kind = ActionKind::kGatherParameters, .bucket = BucketId(4)}),
            "GATHER4");
  EXPECT_EQ(to_string(Action{.kind = ActionKind::kOptimizerStep}), "STEP");
  EXPECT_EQ(text(ActionKind::kUpdateParameters), "2U3");
}

TEST(Action, AVersionStandsBehindWhatRunsAStageProgram) {
  const Action update{.kind = ActionKind::kUpdateParameters,
                      .version = 4,
                      .stage = StageId(2),
                      .micro_batch = MicroBatchId(3)};
  EXPECT_EQ(to_string(update), "2U3v4");
  EXPECT_EQ(parse_action("2U3v4"), update);
  EXPECT_EQ(parse_action("2SEND_F3v4"), std::nullopt);
  EXPECT_EQ(parse_action("2F3v"), std::nullopt);
  EXPECT_EQ(parse_action("2F3v65536"), std::nullopt);
}

TEST(Action, AMicroBatchMayStandBehindABucket) {
  const Action gather{.kind = ActionKind::kGatherParameters,
                      .micro_batch = MicroBatchId(3),
                      .bucket = BucketId(4)};
  EXPECT_EQ(to_string(gather), "GATHER4m3");
  EXPECT_EQ(parse_action("GATHER4m3"), gather);
  EXPECT_EQ(parse_action("GATHER4m"), std::nullopt);
  EXPECT_EQ(parse_action("REDUCE4m3x"), std::nullopt);
}

TEST(Action, EveryKindsTextReadsBack) {
  for (int i = 0; i < kActionKindCount; ++i) {
    Action action{.kind = static_cast<ActionKind>(i)};
    if (action.kind == ActionKind::kReduceGradients ||
        action.kind == ActionKind::kGatherParameters) {
      action.bucket = BucketId(17);
    } else if (action.kind != ActionKind::kOptimizerStep) {
      action.stage = StageId(12);
      action.micro_batch = MicroBatchId(2147483647);
    }
    EXPECT_EQ(parse_action(to_string(action)), action) << to_string(action);
    EXPECT_EQ(action_kind_named(name_of(action.kind)), action.kind);
  }
}

TEST(Action, APeerSlotMayStandBehindSendsAndReceivesOnly) {
  EXPECT_EQ(parse_action("1SEND_F3@2"),
            (Action{.kind = ActionKind::kSendActivation,
                    .stage = StageId(1),
                    .micro_batch = MicroBatchId(3),
                    .peer = PeerSlot(2)}));
  EXPECT_EQ(parse_action("1F3@2"), std::nullopt);
}

TEST(Action, OtherTextIsNoAction) {
  for (const char* text : {"",
                           "F",
                           "1F",
                           "F1",
                           "1X1",
                           "1F1 ",
                           " 1F1",
                           "-1F1",
                           "1F-1",
                           "1f1",
                           "STEP1",
                           "REDUCE",
                           "REDUCE1x",
                           "1SEND_F3@",
                           "1SEND_F3@-1",
                           "1SEND_F",
                           "99999999999F1",
                           "1F99999999999"}) {
    EXPECT_EQ(parse_action(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace stagewright
