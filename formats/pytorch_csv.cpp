#include "formats/pytorch_csv.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/counted.h"

namespace stagewright {
namespace {

std::string_view trimmed(std::string_view cell) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = cell.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) {
    return {};
  }
  return cell.substr(begin, cell.find_last_not_of(kBlank) - begin + 1);
}

/// What stands in a pair of quotes, or the whole cell that has none; nothing where they do not
/// match.
std::optional<std::string_view> unquoted(std::string_view cell) {
  constexpr char kQuote = '"';
  if (cell.size() > 1 && cell.front() == kQuote && cell.back() == kQuote) {
    cell = trimmed(cell.substr(1, cell.size() - 2));
  }
  return cell.find(kQuote) == std::string_view::npos ? std::optional(cell) : std::nullopt;
}

/// Takes the text up to `separator`, or all of it, off the front.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

/// For messages: what is no printable ASCII as \xNN, and no more than a line of it.
std::string shown(std::string_view cell) {
  constexpr std::size_t kMost = 60;
  std::string text;
  for (const char c : cell.substr(0, kMost)) {
    if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return cell.size() > kMost ? text + "..." : text;
}

/// "2BW0" of older versions as "2B0"; nothing for other cells.
std::optional<std::string> whole_backward_of_old(std::string_view cell) {
  const std::size_t letters = cell.find_first_not_of("0123456789");
  if (letters == 0 || letters == std::string_view::npos ||
      !cell.substr(letters).starts_with("BW")) {
    return std::nullopt;
  }
  return fmt::format("{}B{}", cell.substr(0, letters), cell.substr(letters + 2));
}

/// Reads the cells.
class Rows {
 public:
  explicit Rows(std::string_view where) : where_(where) {}

  Result<std::vector<std::vector<ListItem>>> read(std::string_view text) {
    while (!text.empty()) {
      if (auto row = read_row(take_until(text, '\n')); !row) {
        return pass_on(std::move(row));
      }
    }
    // Empty lines at the end are no ranks.
    while (!ranks_.empty() && ranks_.back().empty()) {
      ranks_.pop_back();
    }
    if (!whole_.empty() || all_backwards_are_halves()) {
      split_old_backwards();
    }
    return std::move(ranks_);
  }

 private:
  Result<void> read_row(std::string_view row) {
    std::vector<ListItem>& items = ranks_.emplace_back();
    for (std::size_t column = 1; !row.empty(); ++column) {
      const std::string_view whole_cell = trimmed(take_until(row, ','));
      const auto fault = [&](const std::string& complaint) {
        return fail(ErrorCode::kInvalidInput,
                    fmt::format("'{}' {}", shown(whole_cell), complaint),
                    fmt::format("{}: rank {}, column {}", where_, ranks_.size() - 1, column));
      };
      const auto cell = unquoted(whole_cell);
      if (!cell) {
        return fault("has a quote without its other one; quote a whole cell or nothing");
      }
      if (cell->empty()) {
        continue;
      }
      const auto old = whole_backward_of_old(*cell);
      const std::optional<ListItem> item = parse_list_item(old ? *old : *cell);
      if (!item || (old && item->kind != ListItemKind::kCompute)) {
        return fault(token_complaint(*cell));
      }
      if (old) {
        whole_.emplace(ranks_.size() - 1, items.size());
      }
      items.push_back(*item);
    }
    return {};
  }

  template <class Visit>
  void for_each_action(const Visit& visit) {
    for (std::vector<ListItem>& items : ranks_) {
      for (ListItem& item : items) {
        for (Action& action : item.actions) {
          visit(action);
        }
      }
    }
  }

  /// Without BW, older versions are told by weight halves for all backwards and no input halves;
  /// where some have none, the list is one of today's letters, with a weight half too many.
  bool all_backwards_are_halves() {
    std::set<std::pair<StageId, MicroBatchId>> weights;
    bool input_half = false;
    for_each_action([&](const Action& action) {
      input_half = input_half || action.kind == ActionKind::kBackwardInput;
      if (action.kind == ActionKind::kBackwardWeight) {
        weights.emplace(action.stage, action.micro_batch);
      }
    });
    bool all = !weights.empty() && !input_half;
    for_each_action([&](const Action& action) {
      all = all && (action.kind != ActionKind::kBackward ||
                    weights.contains({action.stage, action.micro_batch}));
    });
    return all;
  }

  /// Only what was written as BW is whole.
  void split_old_backwards() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      for (std::size_t place = 0; place < ranks_[rank].size(); ++place) {
        if (!whole_.contains({rank, place})) {
          split_backwards(ranks_[rank][place]);
        }
      }
    }
  }

  static void split_backwards(ListItem& item) {
    for (Action& action : item.actions) {
      if (action.kind == ActionKind::kBackward) {
        action.kind = ActionKind::kBackwardInput;
      }
    }
  }

  std::string_view where_;
  std::vector<std::vector<ListItem>> ranks_;
  std::set<std::pair<std::size_t, std::size_t>> whole_;  ///< rank and place of what was written BW
};

/// Counts stages and micro-batches and places the stages.
class Sizes {
 public:
  explicit Sizes(TokenList& list) : list_(list) {}

  Result<void> fill(std::string_view where) {
    std::int64_t computed = 0;
    std::int32_t last_stage = 0;
    std::int32_t last_micro_batch = 0;
    for_each_computed([&](const Action& action, std::size_t /*rank*/) {
      ++computed;
      last_stage = std::max(last_stage, action.stage.value());
      last_micro_batch = std::max(last_micro_batch, action.micro_batch.value());
    });
    if (computed == 0) {
      return fail(ErrorCode::kInvalidInput,
                  "holds no action that computes; a schedule has a line for each rank, as "
                  "0F0,0F1,0B0,0B1",
                  std::string(where));
    }
    // A list runs every stage and every micro-batch at least once, so larger numbers are slips.
    std::optional<Error> slip;
    for_each_computed([&](const Action& action, std::size_t rank) {
      if (!slip && (action.stage.value() >= computed || action.micro_batch.value() >= computed)) {
        slip = Error{ErrorCode::kInvalidInput,
                     fmt::format("'{}' cannot be right: all {} of the file {} "
                                 "fewer stages and micro-batches; check its numbers",
                                 to_string(action),
                                 counted(computed, "compute action"),
                                 computed == 1 ? "runs" : "run"),
                     fmt::format("{}: rank {}", where, rank)};
      }
    });
    if (slip) {
      return tl::unexpected<Error>(*std::move(slip));
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
    std::vector<bool> done(by_micro_batch ? usual.size() * unusual.size() : 0, false);
    for_each_forward([&](const Action& action, std::int32_t rank) {
      if (by_micro_batch) {
        // The first one counts; another is a fault of the list, not a placement.
        const std::size_t place =
            action.stage.index() * unusual.size() + action.micro_batch.index();
        if (done[place]) {
          return;
        }
        done[place] = true;
      }
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
  void for_each_computed(const Visit& visit) {
    for_each_action([&visit](const Action& action, std::size_t rank) {
      if (is_compute(action.kind)) {
        visit(action, rank);
      }
    });
  }

  template <class Visit>
  void for_each_forward(const Visit& visit) {
    for_each_action([&visit](const Action& action, std::size_t rank) {
      if (action.kind == ActionKind::kForward) {
        visit(action, static_cast<std::int32_t>(rank));
      }
    });
  }

  template <class Visit>
  void for_each_action(const Visit& visit) {
    for (std::size_t rank = 0; rank < list_.ranks.size(); ++rank) {
      for (const ListItem& item : list_.ranks[rank]) {
        for (const Action& action : item.actions) {
          visit(action, rank);
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

/// The cells of an item, each with a comma behind it.
std::string cells_of(const ListItem& item) {
  switch (item.kind) {
    case ListItemKind::kCompute:
      return to_string(item) + ",";
    case ListItemKind::kTransfers: {
      std::string cells;
      for (const Action& action : item.actions) {
        cells += to_string(action) + ",";
      }
      return cells;
    }
    case ListItemKind::kMarker:
      return csv_has(item.marker) ? item.marker + "," : std::string();
  }
  SW_CHECK(false, "an item of a kind that is listed");
}

}  // namespace

Result<TokenList> parse_pytorch_csv(std::string_view text, std::string_view where) {
  constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
  if (text.starts_with(kUtf8Mark)) {
    text.remove_prefix(kUtf8Mark.size());
  }
  auto ranks = Rows(where).read(text);
  if (!ranks) {
    return pass_on(std::move(ranks));
  }
  TokenList list;
  list.ranks = *std::move(ranks);
  if (auto filled = Sizes(list).fill(where); !filled) {
    return pass_on(std::move(filled));
  }
  return list;
}

std::string write_pytorch_csv(const TokenList& list) {
  std::string text;
  for (const std::vector<ListItem>& items : list.ranks) {
    std::string row;
    for (const ListItem& item : items) {
      row += cells_of(item);
    }
    if (!row.empty()) {
      row.pop_back();
    }
    text += row + "\n";
  }
  return text;
}

}  // namespace stagewright
