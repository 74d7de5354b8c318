#include "core/schedule/token_list.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/check.h"

namespace stagewright {
namespace {

constexpr std::string_view kOverlap = "OVERLAP_F_B";
constexpr std::string_view kBatch = "BATCH";
constexpr std::string_view kBatchWait = "BATCH_WAIT";

/// The actions between separators; nothing if one of them is none.
std::optional<std::vector<Action>> parse_parts(std::string_view text) {
  std::vector<Action> parts;
  while (true) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const auto part = parse_action(text.substr(0, end));
    if (!part) {
      return std::nullopt;
    }
    parts.push_back(*part);
    if (end == text.size()) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

bool all_transfers(const std::vector<Action>& actions) {
  return std::all_of(actions.begin(), actions.end(), [](const Action& action) {
    return (is_send(action.kind) || is_receive(action.kind)) && action.peer == PeerSlot{};
  });
}

/// One forward and one backward that makes the gradient of the input.
bool is_pair(const std::vector<Action>& actions) {
  const auto forwards = std::ranges::count(actions, ActionKind::kForward, &Action::kind);
  const auto backwards = std::ranges::count(actions, ActionKind::kBackward, &Action::kind) +
                         std::ranges::count(actions, ActionKind::kBackwardInput, &Action::kind);
  return actions.size() == 2 && forwards == 1 && backwards == 1;
}

std::optional<ListItem> parse_overlap(std::string_view token) {
  const std::size_t end = token.find(')');
  if (end == std::string_view::npos || token.substr(end + 1) != kOverlap) {
    return std::nullopt;
  }
  auto parts = parse_parts(token.substr(1, end - 1));
  if (!parts || !is_pair(*parts)) {
    return std::nullopt;
  }
  return ListItem{.kind = ListItemKind::kCompute, .actions = *std::move(parts)};
}

std::optional<ListItem> parse_group(std::string_view token) {
  const std::size_t end = token.find('}');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view name = token.substr(end + 1);
  auto parts = parse_parts(token.substr(1, end - 1));
  if ((name != kBatch && name != kBatchWait) || !parts || !all_transfers(*parts)) {
    return std::nullopt;
  }
  return ListItem{.kind = ListItemKind::kTransfers,
                  .actions = *std::move(parts),
                  .grouped = true,
                  .awaited = name == kBatchWait};
}

/// "UNSHARD" of "0UNSHARD".
std::string_view name_in(std::string_view marker) {
  return marker.substr(std::min(marker.find_first_not_of("0123456789"), marker.size()));
}

/// What may be a marker that is not known.  A slip of an action has a letter or two ("3X", "0FF")
/// or a part of a transfer's name ("0SENDF", "3BATCH").
bool may_be_marker(std::string_view token) {
  constexpr std::size_t kFewestLetters = 4;
  constexpr std::array<std::string_view, 4> kOfTransfers{"SEND", "RECV", "BATCH", "OVERLAP"};
  const std::string_view name = name_in(token);
  return name.size() >= kFewestLetters &&
         std::ranges::all_of(name, [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; }) &&
         std::ranges::none_of(kOfTransfers, [name](std::string_view part) {
           return name.find(part) != std::string_view::npos;
         });
}

}  // namespace

bool TokenList::has_transfers() const {
  return std::any_of(ranks.begin(), ranks.end(), [](const std::vector<ListItem>& items) {
    return std::any_of(items.begin(), items.end(), [](const ListItem& item) {
      return item.kind == ListItemKind::kTransfers;
    });
  });
}

bool is_known_marker(std::string_view token) {
  constexpr std::array<std::string_view, 4> kOfStages{
      "UNSHARD", "RESHARD", "REDUCE_GRAD", "SYNC_GRAD"};
  constexpr std::array<std::string_view, 4> kOfRanks{
      "LOAD", "REDUCE_GRAD", "REDUCE_TIED_GRADS", "OPT_STEP"};
  const std::string_view name = name_in(token);
  const auto& known = name.size() < token.size() ? kOfStages : kOfRanks;
  return std::ranges::find(known, name) != known.end();
}

std::string token_complaint(std::string_view token) {
  if (token.starts_with('(') && token.ends_with(kOverlap)) {
    return "pairs something else than one forward and one backward (B or I); write e.g. "
           "(0F7;7B3)OVERLAP_F_B";
  }
  return "is no action; write e.g. 3F0, 3B0, 3I0, 3W0, 3SEND_F0, (0F7;7B3)OVERLAP_F_B or "
         "{0SEND_F0;1RECV_F2}BATCH";
}

std::optional<ListItem> parse_list_item(std::string_view token, MarkerRule markers) {
  if (token.starts_with('(')) {
    return parse_overlap(token);
  }
  if (token.starts_with('{')) {
    return parse_group(token);
  }
  if (const auto action = parse_action(token)) {
    if (is_compute(action->kind)) {
      return ListItem{.kind = ListItemKind::kCompute, .actions = {*action}};
    }
    if (all_transfers({*action})) {
      return ListItem{.kind = ListItemKind::kTransfers, .actions = {*action}};
    }
  }
  if (!is_known_marker(token) && (markers == MarkerRule::kKnown || !may_be_marker(token))) {
    return std::nullopt;
  }
  return ListItem{.kind = ListItemKind::kMarker, .marker = std::string(token)};
}

std::string to_string(const ListItem& item) {
  if (item.kind == ListItemKind::kMarker) {
    return item.marker;
  }
  SW_CHECK(!item.actions.empty(), "an action in an item that is no marker");
  const bool overlap = item.kind == ListItemKind::kCompute && item.actions.size() == 2;
  if (!overlap && !item.grouped) {
    return to_string(item.actions.front());
  }
  std::string text(1, overlap ? '(' : '{');
  for (const Action& action : item.actions) {
    text += (text.size() > 1 ? ";" : "") + to_string(action);
  }
  text += overlap ? ')' : '}';
  text += overlap ? kOverlap : item.awaited ? kBatchWait : kBatch;
  return text;
}

TokenList token_list(const PipelineOrder& order) {
  TokenList list{.stages = order.stages,
                 .micro_batches = order.micro_batches,
                 .placement = order.placement,
                 .copy_of = order.copy_of,
                 .ranks = {}};
  list.copy_of.resize(static_cast<std::size_t>(order.micro_batches), 0);
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    std::vector<ListItem> items;
    items.reserve(order.ranks[rank].size());
    auto pair = order.pairs.empty() ? std::vector<std::int32_t>{} : order.pairs[rank];
    auto next_pair = pair.begin();
    for (std::size_t i = 0; i < order.ranks[rank].size(); ++i) {
      items.push_back({.kind = ListItemKind::kCompute, .actions = {order.ranks[rank][i]}});
      if (next_pair != pair.end() && static_cast<std::size_t>(*next_pair) == i) {
        SW_CHECK(i + 1 < order.ranks[rank].size(), "a second action of the pair");
        items.back().actions.push_back(order.ranks[rank][++i]);
        ++next_pair;
      }
    }
    list.ranks.push_back(std::move(items));
  }
  return list;
}

TokenList compute_only(TokenList list) {
  for (std::vector<ListItem>& items : list.ranks) {
    std::erase_if(items, [](const ListItem& item) { return item.kind != ListItemKind::kCompute; });
  }
  return list;
}

}  // namespace stagewright
