#include "core/base/data_files.h"

#include <algorithm>
#include <array>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/embedded_files.h"
#include "core/base/file.h"

namespace stagewright {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kFolders = {
    "calibration", "clusters", "frameworks", "hardware", "measured", "models"};

/// The paths of the JSON files in `folder` and below it.
Result<std::vector<fs::path>> json_files(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code code;
  for (fs::recursive_directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    if (entry->path().extension() == ".json") {
      found.push_back(entry->path());
    }
  }
  if (code) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot read the folder: {}; check its permissions", code.message()),
                folder.string());
  }
  return found;
}

}  // namespace

DataFiles DataFiles::embedded() {
  return {};
}

Result<DataFiles> DataFiles::with_overrides(const fs::path& folder) {
  std::error_code code;
  if (!fs::is_directory(folder, code)) {
    return fail(ErrorCode::kNotFound, "no such folder; check the path", folder.string());
  }
  DataFiles files;
  bool any_folder = false;
  for (const std::string_view subfolder : kFolders) {
    if (!fs::is_directory(folder / subfolder, code)) {
      continue;
    }
    any_folder = true;
    auto paths = json_files(folder / subfolder);
    if (!paths) {
      return pass_on(std::move(paths));
    }
    for (const fs::path& path : *paths) {
      auto content = read_file(path);
      if (!content) {
        return pass_on(std::move(content));
      }
      files.overrides_.insert_or_assign(path.lexically_relative(folder).generic_string(),
                                        Override{path.string(), std::move(*content)});
    }
  }
  if (!any_folder) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("holds no data files; it needs at least one of the folders {}",
                            fmt::join(kFolders, ", ")),
                folder.string());
  }
  return files;
}

std::optional<std::string_view> DataFiles::find(std::string_view name) const {
  if (const auto found = overrides_.find(name); found != overrides_.end()) {
    return found->second.content;
  }
  const auto all = embedded_files();
  const auto found = std::ranges::lower_bound(all, name, {}, &EmbeddedFile::name);
  if (found == all.end() || found->name != name) {
    return std::nullopt;
  }
  return found->content;
}

std::vector<std::string> DataFiles::list(std::string_view folder) const {
  const std::string prefix = fmt::format("{}/", folder);
  std::set<std::string> names;
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name.starts_with(prefix)) {
      names.emplace(file.name);
    }
  }
  for (const auto& [name, file] : overrides_) {
    if (name.starts_with(prefix)) {
      names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

std::string DataFiles::where(std::string_view name) const {
  const auto found = overrides_.find(name);
  return found != overrides_.end() ? found->second.path : fmt::format("profiles/{}", name);
}

}  // namespace stagewright
