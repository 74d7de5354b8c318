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

/// Of a rank's items, each of one or more actions: what is above the cap; the rank is for the
/// caller to fill in.
template <class Items>
std::optional<CapExcess> find_excess(const Items& items, std::int64_t cap) {
  HeldActivations held;
  std::optional<CapExcess> excess;
  std::int32_t place = 0;
  for (const auto& item : items) {
    for (const Action& action : actions_of(item)) {
      held.add(action.kind);
      if (!excess && held.to_weight() > cap) {
        excess = CapExcess{.cap = cap, .place = place, .action = action};
      }
    }
    ++place;
  }
  if (excess) {
    excess->held = held.most_to_weight();
  }
  return excess;
}

template <class Ranks>
std::vector<CapExcess> find_excesses(const Ranks& ranks, const std::vector<std::int64_t>& caps) {
  SW_CHECK(caps.size() == ranks.size(), "a memory cap for each rank");
  std::vector<CapExcess> all;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (auto excess = find_excess(ranks[rank], caps[rank])) {
      excess->rank = static_cast<std::int32_t>(rank);
      all.push_back(*excess);
    }
  }
  return all;
}

}  // namespace

std::vector<CapExcess> above_caps(const TokenList& list, const std::vector<std::int64_t>& caps) {
  return find_excesses(list.ranks, caps);
}

std::vector<CapExcess> above_caps(const PipelineOrder& order,
                                  const std::vector<std::int64_t>& caps) {
  return find_excesses(order.ranks, caps);
}

}  // namespace stagewright
