#include "formats/pytorch_csv.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace stagewright {
namespace {

std::string_view trimmed(std::string_view cell) {
  constexpr std::string_view kBlank = " \t\r\"";
  const std::size_t begin = cell.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) {
    return {};
  }
  return cell.substr(begin, cell.find_last_not_of(kBlank) - begin + 1);
}

/// Takes the text up to `separator`, or all of it, off the front.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

Result<std::vector<ListItem>> read_row(std::string_view row,
                                       std::size_t rank,
                                       std::string_view where) {
  std::vector<ListItem> items;
  for (std::size_t column = 1; !row.empty(); ++column) {
    const std::string_view cell = trimmed(take_until(row, ','));
    if (cell.empty()) {
      continue;
    }
    const std::optional<ListItem> item = parse_list_item(cell);
    if (!item) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' is no action; write e.g. 3F0, 3B0, 3I0, 3W0, 3SEND_F0 or "
                              "(0F7;7B3)OVERLAP_F_B",
                              cell.substr(0, 80)),
                  fmt::format("{}: rank {}, column {}", where, rank, column));
    }
    items.push_back(*item);
  }
  return items;
}

/// Counts stages and micro-batches and places the stages.
class Sizes {
 public:
  explicit Sizes(TokenList& list) : list_(list) {}

  Result<void> fill(std::string_view where) {
    std::int64_t computed = 0;
    std::int32_t last_stage = 0;
    std::int32_t last_micro_batch = 0;
    for (const auto& items : list_.ranks) {
      for (const ListItem& item : items) {
        if (item.kind == ListItemKind::kCompute) {
          computed += static_cast<std::int64_t>(item.actions.size());
          for (const Action& action : item.actions) {
            last_stage = std::max(last_stage, action.stage.value());
            last_micro_batch = std::max(last_micro_batch, action.micro_batch.value());
          }
        }
      }
    }
    // A list runs every stage and every micro-batch at least once, so larger numbers are slips.
    if (computed == 0 || last_stage >= computed || last_micro_batch >= computed) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("{} compute actions cannot run stage {} and micro-batch {}",
                              computed,
                              last_stage,
                              last_micro_batch),
                  std::string(where));
    }
    list_.stages = last_stage + 1;
    list_.micro_batches = last_micro_batch + 1;
    // A list that is too short lacks actions wherever its stages lie.
    find_placements(computed >= std::int64_t{list_.stages} * list_.micro_batches);
    return {};
  }

 private:
  struct Spot {
    std::int32_t stage = 0;
    std::int32_t rank = 0;
  };

  void find_placements(bool by_micro_batch) {
    std::vector<std::int32_t> usual(static_cast<std::size_t>(list_.stages), 0);
    std::vector<std::vector<Spot>> unusual(static_cast<std::size_t>(list_.micro_batches));
    std::vector<bool> seen(usual.size(), false);
    for_each_forward([&](const Action& action, std::int32_t rank) {
      if (!seen[action.stage.index()]) {
        seen[action.stage.index()] = true;
        usual[action.stage.index()] = rank;
      } else if (usual[action.stage.index()] != rank) {
        unusual[action.micro_batch.index()].push_back({action.stage.value(), rank});
      }
    });
    if (!by_micro_batch) {
      list_.placement = {std::move(usual)};
      list_.copy_of.assign(unusual.size(), 0);
      return;
    }
    std::map<std::vector<std::int32_t>, std::int32_t> copies;
    for (const std::vector<Spot>& spots : unusual) {
      std::vector<std::int32_t> ranks = usual;
      for (const Spot& spot : spots) {
        ranks[static_cast<std::size_t>(spot.stage)] = spot.rank;
      }
      const auto [found, added] =
          copies.emplace(std::move(ranks), static_cast<std::int32_t>(copies.size()));
      if (added) {
        list_.placement.push_back(found->first);
      }
      list_.copy_of.push_back(found->second);
    }
  }

  template <class Visit>
  void for_each_forward(const Visit& visit) {
    for (std::size_t rank = 0; rank < list_.ranks.size(); ++rank) {
      for (const ListItem& item : list_.ranks[rank]) {
        for (const Action& action : item.actions) {
          if (action.kind == ActionKind::kForward) {
            visit(action, static_cast<std::int32_t>(rank));
          }
        }
      }
    }
  }

  TokenList& list_;
};

bool csv_has(const std::string& marker) {
  const std::size_t name = marker.find_first_not_of("0123456789");
  if (name == 0 || name == std::string::npos) {
    return false;
  }
  const std::string_view kind = std::string_view(marker).substr(name);
  return kind == "UNSHARD" || kind == "RESHARD" || kind == "REDUCE_GRAD";
}

}  // namespace

Result<TokenList> parse_pytorch_csv(std::string_view text, std::string_view where) {
  TokenList list;
  while (!text.empty()) {
    const std::string_view row = take_until(text, '\n');
    Result<std::vector<ListItem>> items = read_row(row, list.ranks.size(), where);
    if (!items) {
      return pass_on(std::move(items));
    }
    list.ranks.push_back(*std::move(items));
  }
  // Empty lines at the end are no ranks.
  while (!list.ranks.empty() && list.ranks.back().empty()) {
    list.ranks.pop_back();
  }
  if (auto filled = Sizes(list).fill(where); !filled) {
    return pass_on(std::move(filled));
  }
  return list;
}

std::string write_pytorch_csv(const TokenList& list) {
  std::string text;
  for (const std::vector<ListItem>& items : list.ranks) {
    std::string row;
    const auto add = [&row](const std::string& token) { row += (row.empty() ? "" : ",") + token; };
    for (const ListItem& item : items) {
      switch (item.kind) {
        case ListItemKind::kCompute:
          add(to_string(item));
          break;
        case ListItemKind::kTransfers:
          for (const Action& action : item.actions) {
            add(to_string(action));
          }
          break;
        case ListItemKind::kMarker:
          if (csv_has(item.marker)) {
            add(item.marker);
          }
          break;
      }
    }
    text += row + "\n";
  }
  return text;
}

}  // namespace stagewright
