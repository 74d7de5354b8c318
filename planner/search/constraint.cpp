#include "planner/search/constraint.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/suggest.h"
#include "planner/search/dimension.h"

namespace stagewright {
namespace {

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32)
                                          : static_cast<char>(letter);
  });
  return result;
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0 ||
      value > std::numeric_limits<std::int32_t>::max()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

bool matches_glob(std::string_view pattern, std::string_view word) {
  if (pattern.empty()) {
    return word.empty();
  }
  if (pattern.front() == '*') {
    return matches_glob(pattern.substr(1), word) ||
           (!word.empty() && matches_glob(pattern, word.substr(1)));
  }
  return !word.empty() && (pattern.front() == '?' || pattern.front() == word.front()) &&
         matches_glob(pattern.substr(1), word.substr(1));
}

Result<ValueSet> ValueSet::parse(std::string_view text, std::string_view where) {
  ValueSet set;
  set.text_ = text;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t dots = item.find("..");
    if (item.empty()) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' has an empty item; write values, ranges like 4..16 and names "
                              "like zb-*, divided by commas",
                              text),
                  std::string(where));
    }
    if (dots == std::string_view::npos) {
      if (const auto number = number_of(item)) {
        set.ranges_.push_back({*number, *number});
        set.named_.push_back(*number);
      } else {
        set.words_.push_back(lower_case(item));
      }
      continue;
    }
    const auto low = dots == 0 ? std::optional<std::int64_t>(0) : number_of(item.substr(0, dots));
    const auto high = dots + 2 == item.size()
                          ? std::optional(std::numeric_limits<std::int64_t>::max())
                          : number_of(item.substr(dots + 2));
    if (!low || !high || *low > *high || item.size() == 2) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' is not a range; write it like 4..16, 4.. or ..16", item),
                  std::string(where));
    }
    set.ranges_.push_back({*low, *high});
  }
  return set;
}

bool ValueSet::has(std::int64_t number) const {
  return std::ranges::any_of(
      ranges_, [&](const Range& range) { return range.low <= number && number <= range.high; });
}

bool ValueSet::has(std::string_view word) const {
  const std::string folded = lower_case(word);
  const auto number = number_of(folded);
  return std::ranges::any_of(
             words_, [&](const std::string& pattern) { return matches_glob(pattern, folded); }) ||
         (number && has(*number));
}

std::int64_t ValueSet::distance(std::int64_t number) const {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Range& range : ranges_) {
    least = std::min(least, std::max({std::int64_t{0}, range.low - number, number - range.high}));
  }
  return least;
}

Result<void> constrain(Constraints& constraints, std::string_view name, std::string_view text) {
  const auto dimension = find_dimension(name);
  if (!dimension) {
    return tl::unexpected<Error>(dimension.error());
  }
  const std::string where = fmt::format("--{}", name);
  auto set = ValueSet::parse(text, where);
  if (!set) {
    return pass_on(std::move(set));
  }
  const std::vector<std::string_view> known = (*dimension)->words();
  for (const std::string& word : set->words()) {
    if (known.empty()) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' is not a whole number from {}, nor a list or range of them "
                              "(2,4 or 4..16)",
                              word,
                              (*dimension)->least),
                  where);
    }
    if (std::ranges::none_of(known,
                             [&](std::string_view value) { return matches_glob(word, value); })) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("there is no {} '{}'{}", name, word, suggestion(word, known)),
                  where);
    }
  }
  for (const std::int64_t number : set->named()) {
    if (known.empty() && number < (*dimension)->least) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' is not a whole number from {}", number, (*dimension)->least),
                  where);
    }
  }
  if (!constraints.try_emplace(std::string(name), *std::move(set)).second) {
    return fail(ErrorCode::kInvalidInput, fmt::format("{} is given twice", where), where);
  }
  return {};
}

Result<Constraints> parse_constraints(std::string_view text) {
  Constraints constraints;
  std::string name;
  std::string values;
  const auto flush = [&]() -> Result<void> {
    return name.empty() ? Result<void>{} : constrain(constraints, name, values);
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(", ", begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = item.find('=');
    if (item.empty()) {
      continue;
    }
    if (equals == std::string_view::npos) {
      if (name.empty()) {
        return fail(ErrorCode::kInvalidInput,
                    fmt::format("'{}' is no constraint; write them like tp=8,pp=4..16", item));
      }
      values += fmt::format(",{}", item);
      continue;
    }
    if (auto done = flush(); !done) {
      return pass_on(std::move(done));
    }
    name = item.substr(0, equals);
    values = item.substr(equals + 1);
  }
  if (auto done = flush(); !done) {
    return pass_on(std::move(done));
  }
  return constraints;
}

}  // namespace stagewright
