// Every vector's verdict, times, idle shares, peaks and queue verdicts against golden_times.json.

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/analysis/order_check.h"
#include "tests/integration/schedules/cost_sets.h"
#include "tests/integration/schedules/vectors.h"

namespace stagewright {
namespace {

/// The golden figures have six decimals.
constexpr double kTolerance = 1.001e-6;

class GoldenTimes : public testing::TestWithParam<std::string> {};

/// It ends where it begins, and is no longer than a person reads.
void expect_named_cycle(const std::string& text) {
  const std::string first = text.substr(0, text.find(") ") + 1);
  EXPECT_TRUE(first.starts_with("rank ")) << text;
  EXPECT_TRUE(text.ends_with(" " + first)) << text;
  EXPECT_NE(text.find("which "), std::string::npos) << text;
  EXPECT_LT(text.size(), 1000U) << text;
}

TEST_P(GoldenTimes, AreWhatTheCheckFinds) {
  const TokenList list = read_vector(GetParam());
  const nlohmann::json& golden = golden_times(GetParam());
  if (golden.contains("error")) {
    const OrderCheck check = check_order(list, costs_of(cost_sets()[0], list.stages));
    ASSERT_TRUE(check.fault.has_value());
    EXPECT_EQ(name_of(check.fault->kind), golden.at("error").get<std::string>());
    // "missing: backward of stage 0 micro-batch 4 (I=False, W=False)": what stands before the
    // bracket says where.
    const std::string detail = golden.at("detail");
    const std::string where = detail.substr(0, detail.find(" ("));
    EXPECT_EQ(check.fault->to_string().substr(0, where.size()), where);
    return;
  }
  EXPECT_EQ(activation_peaks(list).to_backward, golden.at("peak_F_to_B"));
  EXPECT_EQ(activation_peaks(list).to_weight, golden.at("peak_F_to_W"));
  for (const CostSet& set : cost_sets()) {
    if (!golden.contains(set.name)) {
      continue;
    }
    SCOPED_TRACE(set.name);
    const OrderCheck check = check_order(list, costs_of(set, list.stages));
    ASSERT_FALSE(check.fault.has_value()) << check.fault->to_string();
    const nlohmann::json& expected = golden.at(set.name);
    EXPECT_NEAR(to_seconds(check.timing.makespan), expected.at("makespan"), kTolerance);
    EXPECT_NEAR(check.timing.bubble_rate(), expected.at("bubble_rate"), kTolerance);
    EXPECT_NEAR(check.timing.span_bubble_rate(), expected.at("span_bubble_rate"), kTolerance);
    const std::vector<double> idle = check.timing.idle_share();
    ASSERT_EQ(idle.size(), expected.at("idle_share").size());
    for (std::size_t rank = 0; rank < idle.size(); ++rank) {
      EXPECT_NEAR(idle[rank], expected.at("idle_share").at(rank), kTolerance) << "rank " << rank;
    }
  }
}

TEST_P(GoldenTimes, OfEveryQueueModelAreWhatTheCheckFinds) {
  const nlohmann::json& golden = golden_times(GetParam());
  if (!golden.contains("comm")) {
    return;  // no transfers, or a list that is wrong before any
  }
  const TokenList list = read_vector(GetParam());
  const OrderCheck check = check_order(list, costs_of(cost_sets()[1], list.stages));
  ASSERT_EQ(check.queues.size(), kQueueModels.size());
  for (const auto& [model, timing] : check.queues) {
    SCOPED_TRACE(std::string(name_of(model)));
    const nlohmann::json& expected = golden.at("comm").at(std::string(name_of(model)));
    if (expected.is_string()) {
      ASSERT_TRUE(timing.fault.has_value());
      EXPECT_EQ(name_of(timing.fault->kind), expected.get<std::string>());
      if (timing.fault->kind == ListFaultKind::kDeadlock) {
        expect_named_cycle(timing.fault->detail);
      }
    } else {
      ASSERT_FALSE(timing.fault.has_value()) << timing.fault->to_string();
      EXPECT_NEAR(to_seconds(timing.makespan), expected.get<double>(), kTolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, GoldenTimes, testing::ValuesIn(vector_names()), vector_test_name);

}  // namespace
}  // namespace stagewright
