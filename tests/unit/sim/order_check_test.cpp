#include "sim/analysis/order_check.h"

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/analysis/list_coverage.h"

namespace stagewright {
namespace {

/// Two ranks with a stage each; a line of tokens a rank.
TokenList list_of(const std::vector<std::string>& ranks, std::int32_t micro_batches) {
  TokenList list{.stages = 2,
                 .micro_batches = micro_batches,
                 .placement = {{0, 1}},
                 .copy_of = std::vector<std::int32_t>(static_cast<std::size_t>(micro_batches)),
                 .ranks = {}};
  for (const std::string& line : ranks) {
    std::istringstream words(line);
    std::vector<ListItem> items;
    for (std::string token; words >> token;) {
      items.push_back(parse_list_item(token).value());
    }
    list.ranks.push_back(std::move(items));
  }
  return list;
}

const PipelineCosts kCosts = costs_per_stage({.forward = Duration(10),
                                              .backward = Duration(20),
                                              .backward_input = Duration(10),
                                              .backward_weight = Duration(10),
                                              .recompute = Duration(10),
                                              .transfer = Duration(1)},
                                             2);

std::string fault_of(const std::vector<std::string>& ranks, std::int32_t micro_batches = 1) {
  const OrderCheck check = check_order(list_of(ranks, micro_batches), kCosts);
  return check.fault ? check.fault->to_string() : "none";
}

TEST(OrderCheck, NamesEachFaultOfCoverage) {
  EXPECT_EQ(fault_of({"0F0 0B0", "1F0 1B0"}), "none");
  EXPECT_EQ(fault_of({"0F0 0I0 0W0", "1F0 1R0 1B0"}), "none");
  EXPECT_EQ(fault_of({"0F0 0B0", "1F0 1B0 1F1"}),
            "range: rank 1 pos 2: 1F1 out of range (S=2, M=1)");
  EXPECT_EQ(fault_of({"0F0 0B0 1B0", "1F0"}), "placement: rank 0 pos 2: 1B0 belongs on rank 1");
  EXPECT_EQ(fault_of({"0F0 0B0 0F0", "1F0 1B0"}), "duplicate: rank 0 pos 2: 0F0 is done twice");
  EXPECT_EQ(fault_of({"0F0 0B0", "1F0 1I0 1B0 1W0"}), "duplicate: rank 1 pos 2: 1B0 is done twice");
  EXPECT_EQ(fault_of({"0F0 0B0", "1B0"}), "missing: forward of stage 1 micro-batch 0");
  EXPECT_EQ(fault_of({"0F0 0I0", "1F0 1B0"}),
            "missing: backward of stage 0 micro-batch 0 (I done, W absent)");
  EXPECT_EQ(fault_of({"0F0 0B0 0SEND_B0", "1F0 1B0"}),
            "range: rank 0 pos 2: 0SEND_B0 has no stage on the other side (S=2)");
}

TEST(OrderCheck, NamesWhatWaitsForEver) {
  EXPECT_EQ(fault_of({"0B0 0F0", "1F0 1B0"}),
            "deadlock: rank 0 pos 0 (0B0) waits for rank 0 pos 1 (0F0), which is reached only "
            "after rank 0 pos 0 (0B0)");
  EXPECT_EQ(fault_of({"0F0 0W0 0I0", "1F0 1B0"}),
            "deadlock: rank 0 pos 1 (0W0) waits for rank 0 pos 2 (0I0), which is reached only "
            "after rank 0 pos 1 (0W0)");
  EXPECT_EQ(fault_of({"0R0 0F0 0B0", "1F0 1B0"}),
            "deadlock: rank 0 pos 0 (0R0) waits for rank 0 pos 1 (0F0), which is reached only "
            "after rank 0 pos 0 (0R0)");
  EXPECT_EQ(fault_of({"0F0 0B0 0F1 0B1", "1F0 1F1 1B0 1B1"}, 2),
            "deadlock: rank 0 pos 1 (0B0) waits for rank 1 pos 2 (1B0), which is reached only "
            "after rank 1 pos 1 (1F1), which waits for rank 0 pos 2 (0F1), which is reached only "
            "after rank 0 pos 1 (0B0)");
}

TEST(OrderCheck, ARecomputationStandsBeforeItsBackward) {
  EXPECT_EQ(fault_of({"0F0 0B0 0R0", "1F0 1B0"}),
            "order: rank 0 pos 2: 0R0 comes after the backward that it recomputes for");
  EXPECT_EQ(fault_of({"0F0 0I0 0R0 0W0", "1F0 1B0"}),
            "order: rank 0 pos 2: 0R0 comes after the backward that it recomputes for");
}

TEST(OrderCheck, AMarkerNamesAStageOfTheList) {
  EXPECT_EQ(fault_of({"1UNSHARD 0F0 0B0 OPT_STEP", "1F0 1B0"}), "none");
  EXPECT_EQ(fault_of({"0F0 2UNSHARD 0B0", "1F0 1B0"}),
            "range: rank 0 pos 1: 2UNSHARD out of range (S=2, M=1)");
  EXPECT_EQ(fault_of({"0F0 99999999999999999999RESHARD 0B0", "1F0 1B0"}).substr(0, 5), "range");
}

TEST(OrderCheck, NamesMessagesThatLackASide) {
  const std::string rank_1 = "1RECV_F0 1F0 1B0 1SEND_B0";
  EXPECT_EQ(fault_of({"0F0 0SEND_F0 0RECV_B0 0B0", rank_1}), "none");
  EXPECT_EQ(fault_of({"0F0 0SEND_F0 0RECV_B0 0B0", "1F0 1B0 1SEND_B0"}),
            "missing: 1RECV_F0 on rank 1, which would receive the 0SEND_F0 of rank 0");
  EXPECT_EQ(fault_of({"0F0 0SEND_F0 0RECV_B0 0B0", "1RECV_F0 1F0 1B0"}),
            "missing: 1SEND_B0 on rank 1, which the 0RECV_B0 of rank 0 waits for");
  EXPECT_EQ(fault_of({"0F0 0SEND_F0 0B0", "1RECV_F0 1F0 1B0"}),
            "missing: 1SEND_B0 on rank 1 and 0RECV_B0 on rank 0; a list with sends and receives "
            "has all that its stages need");
}

/// F of both stages, then B of both, with a transfer each way: 10 + 1 + 10 + 20 + 1 + 20.
TEST(OrderCheck, AddsUpAChain) {
  const OrderCheck check = check_order(list_of({"0F0 0B0", "1F0 1B0"}, 1), kCosts);
  EXPECT_EQ(check.timing.makespan, Duration(62));
  EXPECT_EQ(check.timing.busy, (std::vector<Duration>{Duration(30), Duration(30)}));
  EXPECT_EQ(check.timing.spans, (std::vector<Duration>{Duration(62), Duration(30)}));
  EXPECT_DOUBLE_EQ(check.timing.bubble_rate(), 1 - 30.0 / 62);
  EXPECT_EQ(check.peaks, (ActivationPeaks{.to_backward = {1, 1}, .to_weight = {1, 1}}));
  EXPECT_TRUE(check.queues.empty());
}

std::map<std::string, std::string> verdicts(const std::vector<std::string>& ranks) {
  std::map<std::string, std::string> all;
  for (const auto& [model, timing] : check_order(list_of(ranks, 2), kCosts).queues) {
    all[std::string(name_of(model))] = timing.fault ? std::string(name_of(timing.fault->kind))
                                                    : std::to_string(timing.makespan.count());
  }
  return all;
}

/// Both ranks send first: the second micro-batch's activation against the first one's gradient.
/// Only queues that keep the two apart let them pass.
TEST(OrderCheck, FindsSendsThatFaceEachOther) {
  EXPECT_EQ(verdicts({"0F0 0SEND_F0 0F1 {0SEND_F1}BATCH_WAIT 0RECV_B0 0B0 0RECV_B1 0B1",
                      "1RECV_F0 1F0 1B0 {1SEND_B0}BATCH_WAIT 1RECV_F1 1F1 1B1 1SEND_B1"}),
            (std::map<std::string, std::string>{{"channel", "deadlock"},
                                                {"dir", "deadlock"},
                                                {"kind", "deadlock"},
                                                {"pair", "deadlock"},
                                                {"rank", "deadlock"}}));
  const auto async = verdicts({"0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1",
                               "1RECV_F0 1F0 1B0 1SEND_B0 1RECV_F1 1F1 1B1 1SEND_B1"});
  EXPECT_EQ(async.at("rank"), "deadlock");
  EXPECT_EQ(async.at("pair"), "deadlock");
  EXPECT_EQ(async.at("dir"), "93");
  EXPECT_EQ(async.at("kind"), "93");
  EXPECT_EQ(async.at("channel"), "93");
}

std::string fault_under(QueueModel model, const std::vector<std::string>& ranks) {
  for (const auto& [checked, timing] : check_order(list_of(ranks, 2), kCosts).queues) {
    if (checked == model) {
      return timing.fault ? timing.fault->to_string() : "none";
    }
  }
  return "not checked";
}

/// The same two lists: computation that waits for its message, a call that is waited for, and calls
/// that nobody waits for but the ones behind them in their queue.
TEST(OrderCheck, NamesTheCycleOfEachQueueModel) {
  const std::vector<std::string> calls{"0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1",
                                       "1RECV_F0 1F0 1B0 1SEND_B0 1RECV_F1 1F1 1B1 1SEND_B1"};
  for (const QueueModel model : {QueueModel::kRank, QueueModel::kPair}) {
    EXPECT_EQ(fault_under(model, calls),
              "deadlock: rank 0 pos 3 (0SEND_F1) waits for rank 1 pos 4 (1RECV_F1), which queues "
              "behind rank 1 pos 3 (1SEND_B0), which waits for rank 0 pos 4 (0RECV_B0), which "
              "queues behind rank 0 pos 3 (0SEND_F1)");
  }
  const std::vector<std::string> awaited{
      "0F0 0SEND_F0 0F1 {0SEND_F1}BATCH_WAIT 0RECV_B0 0B0 0RECV_B1 0B1",
      "1RECV_F0 1F0 1B0 {1SEND_B0}BATCH_WAIT 1RECV_F1 1F1 1B1 1SEND_B1"};
  for (const QueueModel model : kQueueModels) {
    EXPECT_EQ(
        fault_under(model, awaited),
        "deadlock: rank 0 pos 3 ({0SEND_F1}BATCH_WAIT) waits for rank 1 pos 4 (1RECV_F1), which is "
        "reached only after rank 1 pos 3 ({1SEND_B0}BATCH_WAIT), which waits for rank 0 pos 4 "
        "(0RECV_B0), which is reached only after rank 0 pos 3 ({0SEND_F1}BATCH_WAIT)");
  }
  EXPECT_EQ(fault_under(QueueModel::kChannel,
                        {"0SEND_F0 0F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1", calls[1]}),
            "deadlock: rank 0 pos 0 (0SEND_F0) waits for rank 0 pos 1 (0F0), which is reached only "
            "after rank 0 pos 0 (0SEND_F0)");
}

/// A receive posted before its turn meets the message before it.
TEST(OrderCheck, FindsMessagesThatAreMixedUp) {
  const auto swapped = verdicts({"0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1",
                                 "1RECV_F1 1RECV_F0 1F0 1B0 1SEND_B0 1F1 1B1 1SEND_B1"});
  EXPECT_EQ(swapped.at("channel"), "mismatch");
}

}  // namespace
}  // namespace stagewright
