#include "gui/models/search_query.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "formats/action_colours.h"

namespace stagewright::gui {
namespace {

using Property = SearchTerm::Property;

std::optional<Property> property_named(std::string_view name) {
  if (name == "kind") {
    return Property::kKind;
  }
  if (name == "mb" || name == "micro-batch") {
    return Property::kMicroBatch;
  }
  if (name == "rank") {
    return Property::kRank;
  }
  if (name == "stage") {
    return Property::kStage;
  }
  if (name == "dur" || name == "duration") {
    return Property::kDuration;
  }
  if (name == "start") {
    return Property::kStart;
  }
  return std::nullopt;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(
      out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::vector<ActionKind> kinds_named(std::string_view word) {
  const std::string wanted = lower(word);
  std::vector<ActionKind> kinds;
  for (int i = 0; i < kActionKindCount; ++i) {
    const auto kind = static_cast<ActionKind>(i);
    // Half the field writes B for the input half of a backward, too.
    const bool by_letter =
        wanted.size() == 1 && (std::tolower(look_of(kind).letter) == static_cast<int>(wanted[0]) ||
                               (wanted == "b" && kind == ActionKind::kBackwardInput));
    const bool by_name =
        wanted.size() > 1 && (lower(name_of(kind)).find(wanted) != std::string::npos ||
                              lower(look_of(kind).meaning).find(wanted) != std::string::npos);
    if (by_letter || by_name) {
      kinds.push_back(kind);
    }
  }
  return kinds;
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

/// "7" or "3-5".
bool read_numbers(std::string_view text, SearchTerm& term) {
  const std::size_t dash = text.find('-', 1);
  const auto least = number(text.substr(0, dash));
  const auto most = dash == std::string_view::npos ? least : number(text.substr(dash + 1));
  if (!least || !most) {
    return false;
  }
  term.least = *least;
  term.most = *most;
  return true;
}

bool read_value(std::string_view text, SearchTerm& term) {
  if (term.property == Property::kKind) {
    term.kinds = kinds_named(text);
    return !term.kinds.empty();
  }
  if (term.property == Property::kDuration || term.property == Property::kStart) {
    const Result<Duration> time = parse_duration(text);
    if (time) {
      term.least = term.most = time->count();
    }
    return time.has_value();
  }
  return read_numbers(text, term);
}

Result<void> read_word(std::string_view word, SearchQuery& query) {
  const auto refuse = [&] {
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format("'{}' is no condition; write kind:B, mb:12, rank:3-5, stage:1, dur>2ms, "
                    "start<10ms, or F12",
                    word));
  };
  const std::size_t sign = word.find_first_of(":=<>");
  if (sign == std::string_view::npos) {
    const auto mb = word.size() > 1 ? number(word.substr(1)) : std::nullopt;
    SearchTerm kind{.property = Property::kKind,
                    .kinds = kinds_named(mb ? word.substr(0, 1) : word)};
    if (kind.kinds.empty()) {
      return refuse();
    }
    query.push_back(std::move(kind));
    if (mb) {
      query.push_back({.property = Property::kMicroBatch, .least = *mb, .most = *mb});
    }
    return {};
  }
  const auto property = property_named(word.substr(0, sign));
  if (!property) {
    return refuse();
  }
  SearchTerm term{.property = *property};
  if (word[sign] == '<') {
    term.compare = SearchTerm::Compare::kLess;
  } else if (word[sign] == '>') {
    term.compare = SearchTerm::Compare::kMore;
  }
  if (!read_value(word.substr(sign + 1), term)) {
    return refuse();
  }
  query.push_back(std::move(term));
  return {};
}

bool meets(const SearchTerm& term, std::int64_t value) {
  switch (term.compare) {
    case SearchTerm::Compare::kEqual:
      return value >= term.least && value <= term.most;
    case SearchTerm::Compare::kLess:
      return value < term.least;
    case SearchTerm::Compare::kMore:
      return value > term.most;
  }
  return false;
}

bool meets(const SearchTerm& term, const ActionStore& store, const Lane& lane, ActionIndex i) {
  switch (term.property) {
    case Property::kKind:
      return std::ranges::find(term.kinds, store.kind[i]) != term.kinds.end();
    case Property::kMicroBatch:
      return meets(term, store.micro_batch[i]);
    case Property::kRank:
      return meets(term, lane.rank.value());
    case Property::kStage:
      return meets(term, store.stage[i]);
    case Property::kDuration:
      return meets(term, store.end[i] - store.start[i]);
    case Property::kStart:
      return meets(term, store.start[i]);
  }
  return false;
}

}  // namespace

Result<SearchQuery> parse_search(std::string_view text) {
  SearchQuery query;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) {
      return query;
    }
    const std::size_t end = std::min(text.find(' '), text.size());
    if (Result<void> read = read_word(text.substr(0, end), query); !read) {
      return pass_on(std::move(read));
    }
    text.remove_prefix(end);
  }
}

std::vector<ActionIndex> find_actions(const SearchQuery& query, const ActionStore& store) {
  std::vector<ActionIndex> found;
  if (query.empty()) {
    return found;
  }
  for (const Lane& lane : store.lanes) {
    for (ActionIndex i = lane.begin; lane.use != LaneUse::kError && i < lane.end; ++i) {
      if (std::ranges::all_of(
              query, [&](const SearchTerm& term) { return meets(term, store, lane, i); })) {
        found.push_back(i);
      }
    }
  }
  return found;
}

}  // namespace stagewright::gui
