#pragma once

#include <string>
#include <vector>

namespace stagewright {

/// A text table: a header row, then rows; columns as wide as their longest cell.
/// Numbers (cells that begin with a digit, sign or dot) are aligned right.
class Table {
 public:
  explicit Table(std::vector<std::string> header);
  /// REQUIRES: as many cells as the header has.
  void add(std::vector<std::string> cells);
  /// Every line ends with '\n'; a rule stands under the header.
  [[nodiscard]] std::string to_string() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// "12.3 %" of a share.
[[nodiscard]] std::string percent(double share);
/// "+12.3 %" of a signed share.
[[nodiscard]] std::string signed_percent(double share);
/// "1.23M": a count with three digits and a power-of-1000 letter.
[[nodiscard]] std::string count_text(double value);

}  // namespace stagewright
