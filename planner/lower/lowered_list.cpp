#include "planner/lower/lowered_list.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "planner/lower/order_transfers.h"
#include "planner/lower/place_transfers.h"

namespace stagewright {
namespace {

std::vector<ListItem> items_of(const std::vector<Action>& compute,
                               const std::vector<PlacedTransfer>& placed) {
  std::vector<ListItem> items;
  items.reserve(compute.size() + placed.size());
  auto next = placed.begin();
  for (std::size_t slot = 0; slot <= compute.size(); ++slot) {
    for (; next != placed.end() && static_cast<std::size_t>(next->slot) <= slot; ++next) {
      items.push_back({.kind = ListItemKind::kTransfers, .actions = {action_of(*next)}});
    }
    if (slot < compute.size()) {
      items.push_back({.kind = ListItemKind::kCompute, .actions = {compute[slot]}});
    }
  }
  return items;
}

}  // namespace

Result<TokenList> lowered_list(const PipelineOrder& order) {
  Result<std::vector<Transfer>> transfers = order_transfers(order);
  if (!transfers) {
    return pass_on(std::move(transfers));
  }
  TokenList list{.stages = order.stages,
                 .micro_batches = order.micro_batches,
                 .placement = order.placement,
                 .copy_of = order.copy_of,
                 .ranks = {}};
  list.copy_of.resize(static_cast<std::size_t>(order.micro_batches), 0);
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    list.ranks.push_back(
        items_of(order.ranks[rank], place_transfers(static_cast<std::int32_t>(rank), *transfers)));
  }
  return list;
}

}  // namespace stagewright
