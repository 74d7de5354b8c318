#include "formats/schedule_vector.h"

#include <string>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

/// A vector of two ranks with one stage each and two micro-batches.
std::string vector_with(const std::string& ranks,
                        const std::string& placements = "[[0, 1]]",
                        const std::string& copies = "[0, 0]") {
  return R"({"schema": "schedule-vector/1", "name": "x", "P": 2, "M": 2, "num_stages": 2,)"
         R"( "placements": )" +
         placements + R"(, "mb_placement": )" + copies + R"(, "ranks": )" + ranks + "}";
}

std::string error_of(const std::string& text) {
  const Result<TokenList> list = parse_schedule_vector(text, "x.json");
  return list ? "no error" : list.error().to_string();
}

TEST(ScheduleVector, ReadsComputeTransfersGroupsPairsAndMarkers) {
  const Result<TokenList> list = parse_schedule_vector(
      vector_with(R"([["0F0", "0SEND_F0", "(0F1;0B0)OVERLAP_F_B", "0UNSHARD"],)"
                  R"( ["{1RECV_F0;1SEND_B1}BATCH_WAIT", "1I0", "1W0", "1R1", "OPT_STEP"]])"),
      "x.json");
  ASSERT_TRUE(list) << list.error().to_string();
  const auto action = [](ActionKind kind, std::int32_t stage, std::int32_t m) {
    return Action{.kind = kind, .stage = StageId(stage), .micro_batch = MicroBatchId(m)};
  };
  const TokenList expected{
      .stages = 2,
      .micro_batches = 2,
      .placement = {{0, 1}},
      .copy_of = {0, 0},
      .ranks = {
          {{.actions = {action(ActionKind::kForward, 0, 0)}},
           {.kind = ListItemKind::kTransfers,
            .actions = {action(ActionKind::kSendActivation, 0, 0)}},
           {.actions = {action(ActionKind::kForward, 0, 1), action(ActionKind::kBackward, 0, 0)}},
           {.kind = ListItemKind::kMarker, .marker = "0UNSHARD"}},
          {{.kind = ListItemKind::kTransfers,
            .actions = {action(ActionKind::kRecvActivation, 1, 0),
                        action(ActionKind::kSendGradient, 1, 1)},
            .grouped = true,
            .awaited = true},
           {.actions = {action(ActionKind::kBackwardInput, 1, 0)}},
           {.actions = {action(ActionKind::kBackwardWeight, 1, 0)}},
           {.actions = {action(ActionKind::kRecompute, 1, 1)}},
           {.kind = ListItemKind::kMarker, .marker = "OPT_STEP"}}}};
  EXPECT_EQ(*list, expected);
}

TEST(ScheduleVector, TellsOtherFilesOfOursByName) {
  EXPECT_TRUE(error_of(R"({"format": "stagewright-schedule", "version": 1, "schedule": {}})")
                  .starts_with("x.json: is a plan's lowered schedule, which `run PLAN --schedule "
                               "FILE` executes, but no schedule vector: it lacks P, "));
  EXPECT_TRUE(error_of(R"({"version": 1, "model": "gpt2", "cluster": "1x2xcpu"})")
                  .starts_with("x.json: is a plan, which `simulate PLAN` times, but no schedule "
                               "vector: it lacks P, "));
  EXPECT_TRUE(
      error_of(R"({"format": 1})").starts_with("x.json: is JSON, but no schedule vector: "));
  EXPECT_TRUE(error_of("[]").starts_with("x.json: is JSON, but no schedule vector: "));
}

TEST(ScheduleVector, NamesTheRankAndPlaceOfAWrongToken) {
  EXPECT_EQ(error_of(vector_with(R"([["0F0", "0Q1"], []])")),
            "x.json:/ranks/0/1: \"0Q1\" is no action; write e.g. 3F0, 3B0, 3I0, 3W0, 3SEND_F0, "
            "(0F7;7B3)OVERLAP_F_B or {0SEND_F0;1RECV_F2}BATCH");
  for (const std::string token : {"\"\"",
                                  "\"0F\"",
                                  "\"F0\"",
                                  "\"-1F0\"",
                                  "\"99999999999F0\"",
                                  "\"0F0 \"",
                                  "\"(0F0;1B0\"",
                                  "\"(0F0)OVERLAP_F_B\"",
                                  "\"{0F0}BATCH\"",
                                  "\"{}BATCH\"",
                                  "\"{0SEND_F0}BATCHES\"",
                                  "\"0SEND_F\"",
                                  "\"0SEND_X1\"",
                                  "\"lower\"",
                                  "\"0FF\"",
                                  "\"0FF1\"",
                                  "\"0SEND\"",
                                  "\"0SENDF\"",
                                  "\"0RECV_FF\"",
                                  "\"3BATCH\"",
                                  "\"OVERLAP_F_B\"",
                                  "7",
                                  "null"}) {
    EXPECT_EQ(error_of(vector_with("[[" + token + "], []]")).substr(0, 18), "x.json:/ranks/0/0:")
        << token;
  }
}

TEST(ScheduleVector, NamesTheKeyOfWrongSizes) {
  EXPECT_EQ(error_of(vector_with("[[]]")), "x.json:/ranks: 1 entry, but 2 ranks");
  EXPECT_EQ(error_of(vector_with("[[], []]", "[[0, 1, 0]]")),
            "x.json:/placements/0: 3 entries, but 2 stages");
  EXPECT_EQ(error_of(vector_with("[[], []]", "[[0, 2]]")),
            "x.json:/placements/0/1: 2 is no whole number from 0 to 1");
  EXPECT_EQ(error_of(vector_with("[[], []]", "[[0, 1]]", "[0]")),
            "x.json:/mb_placement: 1 entry, but 2 micro-batches");
  EXPECT_EQ(error_of(vector_with("[[], []]", "[[0, 1]]", "[0, 1]")),
            "x.json:/mb_placement/1: 1 is no whole number from 0 to 0");
  EXPECT_EQ(error_of(vector_with("{}")), "x.json:/ranks: needs an array here");
  EXPECT_EQ(error_of(vector_with("[[], []]", "[]")),
            "x.json:/placements: is empty; list the ranks of the stages, once for each copy of the "
            "weights: [[0, 1]]");
}

TEST(ScheduleVector, RefusesAKeyThatStandsTwice) {
  EXPECT_EQ(error_of(vector_with(R"([["0F0"], []], "ranks": [[], []])")),
            "x.json:/ranks: the key 'ranks' stands twice in one object; keep one of them");
}

// A program may note more in its lists than we know of.
TEST(ScheduleVector, LetsMarkersThrough) {
  for (const std::string marker : {"LOAD", "0UNSHARD", "1SYNC_GRAD", "OFFLOAD", "3EVICT"}) {
    EXPECT_EQ(error_of(vector_with("[[\"" + marker + "\"], []]")), "no error");
  }
}

}  // namespace
}  // namespace stagewright
