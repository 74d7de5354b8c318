#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "gui/models/action_store.h"

namespace stagewright::gui {

/// A condition on one property of an action.
struct SearchTerm {
  enum class Property : std::uint8_t {
    kKind,  ///< by its letter (B also means the input half), or part of its name
    kMicroBatch,
    kRank,
    kStage,
    kDuration,  ///< picoseconds
    kStart,     ///< picoseconds
  };
  enum class Compare : std::uint8_t {
    kEqual,
    kLess,
    kMore
  };
  Property property = Property::kKind;
  Compare compare = Compare::kEqual;
  std::int64_t least = 0;  ///< kEqual: a range of numbers, both ends included
  std::int64_t most = 0;
  std::vector<ActionKind> kinds;
  friend bool operator==(const SearchTerm&, const SearchTerm&) = default;
};

/// All of whose terms an action has to meet.
using SearchQuery = std::vector<SearchTerm>;

/// Reads "kind:B mb:12 rank:3-5 stage:1 dur>2ms start<1s"; "F12" is short for "kind:F mb:12", and a
/// word that is no term is part of a kind's name.  An empty text gives no terms.  The error names
/// the word and what may stand there.
[[nodiscard]] Result<SearchQuery> parse_search(std::string_view text);

/// The actions that meet all terms, ascending; none for a query without terms.
[[nodiscard]] std::vector<ActionIndex> find_actions(const SearchQuery& query,
                                                    const ActionStore& store);

}  // namespace stagewright::gui
