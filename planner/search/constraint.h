#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stagewright {

/// The values of a dimension that a user allows: numbers ("8", "4..16", "4..", "..16") and words,
/// also with wildcards ("zb-*", "?1f1b"), in a list divided by commas.
class ValueSet {
 public:
  /// `where` names the constraint in errors: "--tp".
  [[nodiscard]] static Result<ValueSet> parse(std::string_view text, std::string_view where);

  [[nodiscard]] bool has(std::int64_t number) const;
  /// Letter case does not matter.
  [[nodiscard]] bool has(std::string_view word) const;
  /// Numbers that were named one by one.
  [[nodiscard]] const std::vector<std::int64_t>& named() const { return named_; }
  /// Whether every item is a number or a range of numbers.
  [[nodiscard]] bool numeric() const { return words_.empty(); }
  /// Items that are no numbers, as written.
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  /// How far a number is from the nearest allowed one.
  [[nodiscard]] std::int64_t distance(std::int64_t number) const;

 private:
  struct Range {
    std::int64_t low = 0;
    std::int64_t high = 0;
  };
  std::string text_;
  std::vector<Range> ranges_;
  std::vector<std::int64_t> named_;
  std::vector<std::string> words_;
};

/// Whether `word` matches a pattern in which '*' stands for any letters and '?' for one.
[[nodiscard]] bool matches_glob(std::string_view pattern, std::string_view word);

/// Allowed values by name of the dimension; what is not in it is searched.
using Constraints = std::map<std::string, ValueSet, std::less<>>;

/// Reads `text` for dimension `name` into `constraints`.  Fails with a suggestion where there is no
/// such dimension, where a word is none of its values, or where the same one is given twice.
[[nodiscard]] Result<void> constrain(Constraints& constraints,
                                     std::string_view name,
                                     std::string_view text);

/// "tp=8,pp=4..16": several at once, divided by blanks or by commas before a name.
[[nodiscard]] Result<Constraints> parse_constraints(std::string_view text);

}  // namespace stagewright
