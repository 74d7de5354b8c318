#include "core/schedule/list_order.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

PipelineOrder two_ranks() {
  PipelineOrder order{.stages = 2,
                      .micro_batches = 2,
                      .placement = {{0, 1}},
                      .copy_of = {0, 0},
                      .ranks = {}};
  const auto action = [](ActionKind kind, std::int32_t stage, std::int32_t m) {
    return Action{.kind = kind, .stage = StageId(stage), .micro_batch = MicroBatchId(m)};
  };
  order.ranks = {{action(ActionKind::kForward, 0, 0), action(ActionKind::kForward, 0, 1)},
                 {action(ActionKind::kForward, 1, 0),
                  action(ActionKind::kForward, 1, 1),
                  action(ActionKind::kBackward, 1, 0)}};
  return order;
}

TEST(ListOrder, IsTheOrderThatTheListWasMadeOf) {
  PipelineOrder order = two_ranks();
  EXPECT_EQ(order_of(token_list(order)), order);
  order.pairs = {{}, {1}};
  EXPECT_EQ(order_of(token_list(order)), order);
}

TEST(ListOrder, LeavesTransfersAndMarkersOut) {
  const PipelineOrder order = two_ranks();
  TokenList list = token_list(order);
  for (const char* token : {"0SEND_F0", "0UNSHARD"}) {
    list.ranks[0].insert(list.ranks[0].begin() + 1, *parse_list_item(token));
  }
  EXPECT_EQ(order_of(list), order);
}

}  // namespace
}  // namespace stagewright
