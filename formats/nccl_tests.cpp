#include "formats/nccl_tests.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace stagewright {
namespace {

/// Columns of a measurement: size, count, type, redop, [root], time, algbw, busbw, ...
constexpr std::size_t kLeastColumns = 7;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) {
      return words;
    }
    line.remove_prefix(begin);
    const std::size_t end = line.find_first_of(" \t\r");
    words.push_back(line.substr(0, end));
    line.remove_prefix(end == std::string_view::npos ? line.size() : end);
  }
}

/// Without the task number that `srun --label` writes before each line ("0: ").
std::string_view without_label(std::string_view line) {
  const std::size_t digits = line.find_first_not_of("0123456789");
  const bool labelled =
      digits != 0 && digits != std::string_view::npos && line.substr(digits).starts_with(": ");
  return labelled ? line.substr(digits + 1) : line;
}

template <class T>
std::optional<T> number(std::string_view word) {
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) {
    return std::nullopt;
  }
  return value;
}

bool is_word(std::string_view word) {
  return !word.empty() && std::isalpha(static_cast<unsigned char>(word.front())) != 0;
}

std::optional<OpKind> kind_named_in(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, OpKind>, 5> kNames{
      {{"all_reduce_perf", OpKind::kAllReduce},
       {"all_gather_perf", OpKind::kAllGather},
       {"reduce_scatter_perf", OpKind::kReduceScatter},
       {"broadcast_perf", OpKind::kBroadcast},
       {"alltoall_perf", OpKind::kAllToAll}}};
  for (const auto& [name, kind] : kNames) {
    if (text.find(name) != std::string_view::npos) {
      return kind;
    }
  }
  return std::nullopt;
}

/// The time follows type and reduction (words) and the root (a number that is -1 where there is
/// none): the first number after the words, or the second where a root stands there.
std::optional<double> time_column(const std::vector<std::string_view>& words) {
  std::size_t at = 2;
  while (at < words.size() && is_word(words[at])) {
    ++at;
  }
  const bool root = at + 1 < words.size() && words[at].find('.') == std::string_view::npos &&
                    number<std::int64_t>(words[at]).has_value() && words.size() >= at + 5 &&
                    (words[at] == "-1" || words.size() >= at + 9);
  at += root ? 1 : 0;
  return at < words.size() ? number<double>(words[at]) : std::nullopt;
}

}  // namespace

Result<CollectiveLog> parse_nccl_tests(std::string_view text, std::string_view where, OpKind kind) {
  CollectiveLog log{.kind = kind_named_in(text).value_or(kind)};
  std::size_t line_number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = without_label(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++line_number;
    const auto words = words_of(line);
    if (words.size() < kLeastColumns || line.find('#') != std::string_view::npos) {
      continue;
    }
    const auto size = number<std::int64_t>(words[0]);
    const auto count = number<std::int64_t>(words[1]);
    const auto micros = time_column(words);
    if (!size || !count || !is_word(words[2]) || !micros) {
      continue;
    }
    if (*size < 0 || !(*micros > 0) || *micros > 1e12) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("size {} in {} us is no measurement", *size, *micros),
                  fmt::format("{}:{}", where, line_number));
    }
    if (*size > 0) {
      log.points.push_back({Bytes(*size), from_seconds(*micros * 1e-6)});
    }
  }
  if (log.points.empty()) {
    return fail(ErrorCode::kInvalidInput,
                "holds no line of nccl-tests output (size, count, type, redop, root, time, ...)",
                std::string(where));
  }
  std::ranges::stable_sort(log.points, {}, &CollectivePoint::size);
  return log;
}

}  // namespace stagewright
