#include "core/schedule/list_order.h"

#include <vector>

namespace stagewright {

PipelineOrder order_of(const TokenList& list) {
  PipelineOrder order{.stages = list.stages,
                      .micro_batches = list.micro_batches,
                      .placement = list.placement,
                      .copy_of = list.copy_of,
                      .ranks = {}};
  bool paired = false;
  for (const std::vector<ListItem>& items : list.ranks) {
    std::vector<Action>& actions = order.ranks.emplace_back();
    std::vector<std::int32_t>& pairs = order.pairs.emplace_back();
    for (const ListItem& item : items) {
      if (item.kind != ListItemKind::kCompute) {
        continue;
      }
      if (item.actions.size() > 1) {
        pairs.push_back(static_cast<std::int32_t>(actions.size()));
        paired = true;
      }
      actions.insert(actions.end(), item.actions.begin(), item.actions.end());
    }
  }
  if (!paired) {
    order.pairs.clear();
  }
  return order;
}

}  // namespace stagewright
