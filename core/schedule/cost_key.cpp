#include "core/schedule/cost_key.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/schedule/window_sizes.h"

namespace stagewright {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    words.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return words;
}

bool read_number(std::string_view text, std::int64_t& number) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc{} && end == text.data() + text.size() && number >= 0;
}

bool read_flag(std::string_view word, Operation& op) {
  const std::array<std::pair<std::string_view, bool*>, 5> flags{{{"ta", &op.transpose_a},
                                                                 {"tb", &op.transpose_b},
                                                                 {"accumulate", &op.accumulate},
                                                                 {"causal", &op.causal},
                                                                 {"decay", &op.decay}}};
  const auto* const known =
      std::ranges::find(flags, word, &std::pair<std::string_view, bool*>::first);
  if (known == flags.end()) {
    return false;
  }
  *known->second = true;
  return true;
}

bool read_size(std::string_view word, OpShape& shape) {
  const std::array<std::pair<std::string_view, std::int64_t*>, 8> sizes{
      {{"rows", &shape.rows},
       {"cols", &shape.cols},
       {"inner", &shape.inner},
       {"batch", &shape.batch},
       {"sequence", &shape.sequence},
       {"heads", &shape.heads},
       {"kv_heads", &shape.kv_heads},
       {"head_dim", &shape.head_dim}}};
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) {
    return false;
  }
  for (const auto& [name, size] : sizes) {
    if (word.substr(0, equals) == name) {
      return read_number(word.substr(equals + 1), *size);
    }
  }
  for (const auto& [name, size] : kWindowSizes) {
    if (std::int64_t number = 0; word.substr(0, equals) == name) {
      const bool fits = read_number(word.substr(equals + 1), number) &&
                        number <= std::numeric_limits<std::int32_t>::max();
      shape.window.*size = fits ? static_cast<std::int32_t>(number) : 0;
      return fits;
    }
  }
  return false;
}

bool read_operands(std::string_view word, Operation& op) {
  constexpr std::int64_t kMostOperands = 1000;
  const std::size_t between = word.find('>');
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  if (between == std::string_view::npos || !read_number(word.substr(0, between), inputs) ||
      !read_number(word.substr(between + 1), outputs) || inputs > kMostOperands ||
      outputs > kMostOperands) {
    return false;
  }
  op.inputs.resize(static_cast<std::size_t>(inputs));
  op.outputs.resize(static_cast<std::size_t>(outputs));
  return true;
}

}  // namespace

std::optional<Operation> operation_of_key(std::string_view key) {
  const std::vector<std::string_view> words = words_of(key);
  if (words.size() < 3) {
    return std::nullopt;
  }
  const auto kind = op_kind_named(words[0]);
  const auto dtype = parse_dtype(words[1]);
  if (!kind || !dtype) {
    return std::nullopt;
  }
  Operation op;
  op.kind = *kind;
  op.dtype = *dtype;
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "from" && i + 1 < words.size()) {
      const auto source = parse_dtype(words[++i]);
      if (!source) {
        return std::nullopt;
      }
      op.source = *source;
    } else if (const auto variant = op_variant_named(word)) {
      op.variant = *variant;
    } else if (!read_flag(word, op) && !read_size(word, op.shape) && !read_operands(word, op)) {
      return std::nullopt;
    }
  }
  // The text is canonical: anything else is not a key.
  return cost_key(op) == key ? std::optional(std::move(op)) : std::nullopt;
}

}  // namespace stagewright
