#include "cli/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"

namespace stagewright {
namespace {

/// Width on a terminal: code points, since cells may hold UTF-8.
std::size_t width_of(const std::string& cell) {
  return static_cast<std::size_t>(std::ranges::count_if(
      cell, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// A number, perhaps with a sign, a scale letter or, behind a space, a unit: not a name like
/// "1f1b".
bool is_numeric(const std::string& cell) {
  const std::string first = cell.substr(0, cell.find(' '));
  const std::size_t digits = first.find_first_not_of("0123456789+-.");
  return first.find_first_of("0123456789") != std::string::npos &&
         (digits == std::string::npos ||
          (digits + 1 == first.size() &&
           std::string_view("kMGT%").find(first[digits]) != std::string_view::npos));
}

}  // namespace

Table::Table(std::vector<std::string> header) {
  rows_.push_back(std::move(header));
}

void Table::add(std::vector<std::string> cells) {
  SW_CHECK(cells.size() == rows_.front().size(), "one cell per column");
  rows_.push_back(std::move(cells));
}

std::string Table::to_string() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], width_of(row[c]));
    }
  }
  std::string text;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (std::size_t c = 0; c < rows_[r].size(); ++c) {
      const std::string& cell = rows_[r][c];
      const std::string space(widths[c] - width_of(cell), ' ');
      // A header stands as the first value below it does.
      const bool right = is_numeric(r == 0 && rows_.size() > 1 ? rows_[1][c] : cell);
      line += (c == 0 ? "" : "  ") + (right ? space + cell : cell + space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (r == 0) {
      std::size_t total = 2 * (widths.size() - 1);
      for (const std::size_t width : widths) {
        total += width;
      }
      text += std::string(total, '-') + "\n";
    }
  }
  return text;
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string signed_percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

std::string count_text(double value) {
  static constexpr std::array<std::pair<double, const char*>, 5> kScales{
      {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}};
  for (const auto& [scale, letter] : kScales) {
    if (std::abs(value) >= scale) {
      return fmt::format("{:.3g}{}", value / scale, letter);
    }
  }
  return fmt::format("{:.3g}", value);
}

}  // namespace stagewright
