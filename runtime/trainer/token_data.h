#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace stagewright {

/// A long row of tokens.
struct TokenData {
  std::string name;       ///< where it came from
  std::string bytes;      ///< little-endian
  std::size_t width = 1;  ///< bytes of a token: 1, 2 or 4

  [[nodiscard]] std::int64_t size() const {
    return static_cast<std::int64_t>(bytes.size() / width);
  }
  /// REQUIRES: 0 <= index < size().
  [[nodiscard]] std::int64_t operator[](std::int64_t index) const;
};

/// Text as bytes, one token each: a file, or of a folder all text files below it (md, txt, rst,
/// tex, html, json, csv, c, cc, cpp, h, hpp, py, sh), ordered by path, an empty line between them.
[[nodiscard]] Result<TokenData> read_text_tokens(const std::filesystem::path& path);

/// A file of tokens and nothing else, little-endian, `width` bytes each (2 or 4).
[[nodiscard]] Result<TokenData> read_token_file(const std::filesystem::path& path,
                                                std::size_t width);

/// The one or the other, by the extension `.bin`.  Without a width: 2 bytes where `vocabulary`
/// fits, else 4.  Every token must be below `vocabulary`; the error names the first that is not and
/// its position.
[[nodiscard]] Result<TokenData> open_tokens(const std::filesystem::path& path,
                                            std::int64_t vocabulary,
                                            std::optional<std::size_t> width = std::nullopt);

}  // namespace stagewright
