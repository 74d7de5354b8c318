#include "core/schedule/token_list.h"

#include <algorithm>
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

std::optional<ListItem> parse_overlap(std::string_view token) {
  const std::size_t end = token.find(')');
  if (end == std::string_view::npos || token.substr(end + 1) != kOverlap) {
    return std::nullopt;
  }
  auto parts = parse_parts(token.substr(1, end - 1));
  if (!parts || parts->size() != 2 || !is_compute((*parts)[0].kind) ||
      !is_compute((*parts)[1].kind)) {
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

/// "0UNSHARD", "OPT_STEP": an optional number and a name.
bool is_marker(std::string_view token) {
  const std::size_t name = token.find_first_not_of("0123456789");
  return name != std::string_view::npos && token[name] >= 'A' && token[name] <= 'Z' &&
         std::all_of(token.begin(), token.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

/// What looks like an action but is none ("3F", "F3", "3X0") is a slip, not a marker.
bool looks_like_action(std::string_view token) {
  const std::size_t begin = std::min(token.find_first_not_of("0123456789"), token.size());
  const std::size_t end = std::min(token.find_first_of("0123456789", begin), token.size());
  const std::string_view name = token.substr(begin, end - begin);
  return name.size() == 1 || (begin > 0 && end < token.size()) || name.starts_with("SEND_") ||
         name.starts_with("RECV_");
}

}  // namespace

bool TokenList::has_transfers() const {
  return std::any_of(ranks.begin(), ranks.end(), [](const std::vector<ListItem>& items) {
    return std::any_of(items.begin(), items.end(), [](const ListItem& item) {
      return item.kind == ListItemKind::kTransfers;
    });
  });
}

std::optional<ListItem> parse_list_item(std::string_view token) {
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
  if (!is_marker(token) || looks_like_action(token)) {
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
