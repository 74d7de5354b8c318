#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stagewright {

/// The data that the programs know the world by (devices, clusters, models, ...): JSON
/// files by name, embedded at build from profiles/ and overridden by a folder of the user's.
///
///   for (const std::string& name : files.list("hardware")) {
///     auto json = parse_json(*files.find(name), files.where(name));
///
/// Names are relative with forward slashes and extension: "hardware/h100-80gb-sxm.json".
class DataFiles {
 public:
  /// The embedded files alone.
  [[nodiscard]] static DataFiles embedded();

  /// The embedded files with those of `folder` on top: same name replaces, new name adds.
  /// `folder` has the subfolders of profiles/ (any of them may be missing, not all); it is
  /// read here, once.  kNotFound, kInvalidInput or kIo naming the place otherwise.
  [[nodiscard]] static Result<DataFiles> with_overrides(const std::filesystem::path& folder);

  /// The content, valid as long as this object or one moved from it; nothing if there is no
  /// such file.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;

  /// The names in the subfolder `folder` ("hardware") and below it, sorted.
  [[nodiscard]] std::vector<std::string> list(std::string_view folder) const;

  /// How messages name the file: the path in the user's folder where that wins, else
  /// "profiles/<name>".
  [[nodiscard]] std::string where(std::string_view name) const;

 private:
  struct Override {
    std::string path;
    std::string content;
  };

  DataFiles() = default;

  std::map<std::string, Override, std::less<>> overrides_;  ///< by name
};

}  // namespace stagewright
