#include "sim/analysis/memory_cap.h"

#include <initializer_list>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "core/schedule/list_order.h"

namespace stagewright {
namespace {

TokenList list_of(const std::vector<std::vector<std::string_view>>& ranks) {
  TokenList list{
      .stages = 2, .micro_batches = 3, .placement = {{0, 1}}, .copy_of = {0, 0, 0}, .ranks = {}};
  for (const auto& tokens : ranks) {
    std::vector<ListItem> items;
    for (const std::string_view token : tokens) {
      items.push_back(parse_list_item(token).value());
    }
    list.ranks.push_back(std::move(items));
  }
  return list;
}

// Rank 0 goes up to 3 at its third forward; the input half frees nothing.
const std::vector<std::vector<std::string_view>> kRanks{
    {"0F0", "0F1", "0I0", "0F2", "0W0", "0B1", "0B2"},
    {"1F0", "LOAD", "(1F1;1B0)OVERLAP_F_B", "1F2", "1B1", "1B2"}};

TEST(MemoryCap, NamesTheFirstActionAboveItAndThePeak) {
  const TokenList list = list_of(kRanks);
  const std::vector<CapExcess> above = above_caps(list, {2, 2});
  const Action third{
      .kind = ActionKind::kForward, .stage = StageId(0), .micro_batch = MicroBatchId(2)};
  ASSERT_EQ(above.size(), 1U);
  EXPECT_EQ(above[0], (CapExcess{.rank = 0, .cap = 2, .held = 3, .place = 3, .action = third}));
  EXPECT_TRUE(above_caps(list, {3, 2}).empty());
  const std::vector<CapExcess> both = above_caps(list, {1, 0});
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].place, 1);
  EXPECT_EQ(both[0].held, 3);
  EXPECT_EQ(both[1].place, 0);
  EXPECT_EQ(both[1].held, 2);  // of a pair the forward comes first
}

TEST(MemoryCap, IsTheSameOfAnOrder) {
  const PipelineOrder order = order_of(list_of(kRanks));
  EXPECT_EQ(above_caps(order, {2, 5}), above_caps(list_of(kRanks), {2, 5}));
}

}  // namespace
}  // namespace stagewright
