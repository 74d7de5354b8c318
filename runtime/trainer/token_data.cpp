#include "runtime/trainer/token_data.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/file.h"

namespace stagewright {

namespace {

constexpr std::array<std::string_view, 14> kTextExtensions = {".md",
                                                              ".txt",
                                                              ".rst",
                                                              ".tex",
                                                              ".html",
                                                              ".json",
                                                              ".csv",
                                                              ".c",
                                                              ".cc",
                                                              ".cpp",
                                                              ".h",
                                                              ".hpp",
                                                              ".py",
                                                              ".sh"};

[[nodiscard]] bool is_text(const std::filesystem::path& path) {
  return std::ranges::find(kTextExtensions, path.extension().string()) != kTextExtensions.end();
}

[[nodiscard]] Result<std::vector<std::filesystem::path>> text_files_below(
    const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code problem;
  std::filesystem::recursive_directory_iterator entry(folder, problem);
  for (; !problem && entry != std::filesystem::recursive_directory_iterator();
       entry.increment(problem)) {
    std::error_code unreadable;
    if (entry->is_regular_file(unreadable) && is_text(entry->path())) {
      files.push_back(entry->path());
    }
  }
  if (problem) {
    return fail(ErrorCode::kIo, "cannot list the folder: " + problem.message(), folder.string());
  }
  if (files.empty()) {
    return fail(ErrorCode::kNotFound,
                "there is no text file below this folder (.md, .txt, source code ...)",
                folder.string());
  }
  std::ranges::sort(files, {}, [](const std::filesystem::path& p) { return p.generic_string(); });
  return files;
}

[[nodiscard]] Result<void> check_tokens(const TokenData& data, std::int64_t vocabulary) {
  for (std::int64_t i = 0; i < data.size(); ++i) {
    if (data[i] >= vocabulary) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("token {} at position {} is not below the vocabulary of {}; use data "
                              "made for this model, or a model with a larger vocabulary",
                              data[i],
                              i,
                              vocabulary),
                  data.name);
    }
  }
  return {};
}

}  // namespace

std::int64_t TokenData::operator[](std::int64_t index) const {
  const char* at = bytes.data() + static_cast<std::size_t>(index) * width;
  std::uint32_t token = 0;
  for (std::size_t i = width; i-- > 0;) {
    token = token << 8U | static_cast<unsigned char>(at[i]);
  }
  return token;
}

Result<TokenData> read_text_tokens(const std::filesystem::path& path) {
  std::error_code problem;
  if (!std::filesystem::is_directory(path, problem)) {
    auto content = read_file(path);
    if (!content) {
      return pass_on(std::move(content));
    }
    return TokenData{path.string(), std::move(*content), 1};
  }
  auto files = text_files_below(path);
  if (!files) {
    return pass_on(std::move(files));
  }
  TokenData data{path.string(), {}, 1};
  for (const std::filesystem::path& file : *files) {
    auto content = read_file(file);
    if (!content) {
      return pass_on(std::move(content));
    }
    data.bytes += data.bytes.empty() ? "" : "\n\n";
    data.bytes += *content;
  }
  return data;
}

Result<TokenData> read_token_file(const std::filesystem::path& path, std::size_t width) {
  if (width != 2 && width != 4) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("tokens of {} bytes; a token file has 2 or 4", width),
                path.string());
  }
  auto content = read_file(path);
  if (!content) {
    return pass_on(std::move(content));
  }
  if (content->size() % width != 0) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{} bytes are not a whole number of {}-byte tokens; name the right "
                            "width, or write the file again if it was cut off",
                            content->size(),
                            width),
                path.string());
  }
  return TokenData{path.string(), std::move(*content), width};
}

Result<TokenData> open_tokens(const std::filesystem::path& path,
                              std::int64_t vocabulary,
                              std::optional<std::size_t> width) {
  constexpr std::int64_t kTwoByteVocabulary = 65536;
  auto data = path.extension() == ".bin"
                  ? read_token_file(path, width.value_or(vocabulary <= kTwoByteVocabulary ? 2 : 4))
                  : read_text_tokens(path);
  if (!data) {
    return data;
  }
  if (auto good = check_tokens(*data, vocabulary); !good) {
    return pass_on(std::move(good));
  }
  return data;
}

}  // namespace stagewright
