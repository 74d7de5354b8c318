#include "sim/analysis/memory_cap.h"

#include <optional>
#include <span>

#include "core/base/check.h"
#include "sim/analysis/held_activations.h"

namespace stagewright {
namespace {

std::span<const Action> actions_of(const ListItem& item) {
  return item.actions;
}

std::span<const Action> actions_of(const Action& action) {
  return {&action, 1};
}

/// `Ranks`: per rank a list of items, each of one or more actions.
template <class Ranks>
std::vector<CapExcess> find_excess(const Ranks& ranks, const std::vector<std::int64_t>& caps) {
  SW_CHECK(caps.size() == ranks.size(), "a memory cap for each rank");
  std::vector<CapExcess> all;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    HeldActivations held;
    std::optional<CapExcess> excess;
    std::int32_t place = 0;
    for (const auto& item : ranks[rank]) {
      for (const Action& action : actions_of(item)) {
        held.add(action.kind);
        if (!excess && held.to_weight() > caps[rank]) {
          excess = CapExcess{.rank = static_cast<std::int32_t>(rank),
                             .cap = caps[rank],
                             .place = place,
                             .action = action};
        }
      }
      ++place;
    }
    if (excess) {
      excess->held = held.most_to_weight();
      all.push_back(*excess);
    }
  }
  return all;
}

}  // namespace

std::vector<CapExcess> above_caps(const TokenList& list, const std::vector<std::int64_t>& caps) {
  return find_excess(list.ranks, caps);
}

std::vector<CapExcess> above_caps(const PipelineOrder& order,
                                  const std::vector<std::int64_t>& caps) {
  return find_excess(order.ranks, caps);
}

}  // namespace stagewright
