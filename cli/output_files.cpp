#include "cli/output_files.h"

#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/path_check.h"
#include "core/base/file.h"

namespace stagewright {
namespace {

/// How help shows the value, and how outputs are told from other options.
constexpr const char* kTypeName = "FILE";

/// One name for all ways to write a path; nothing for what is not replaced by writing to it.
std::optional<std::string> identity_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (path == "-" || (fs::exists(status) && !fs::is_regular_file(status))) {
    return std::nullopt;
  }
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  return whole.empty() ? path : whole.string();
}

/// Files that a command and those below it read: whatever else they were given that names one.
void add_inputs(const CLI::App& app, std::map<std::string, std::string>& option_of) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_type_name() == kTypeName || option->empty()) {
      continue;
    }
    for (const std::string& value : option->results()) {
      std::error_code ignored;
      const auto identity = identity_of(value);
      if (identity && std::filesystem::is_regular_file(value, ignored)) {
        option_of.emplace(*identity, option->get_name());
      }
    }
  }
  for (const CLI::App* command : app.get_subcommands()) {
    add_inputs(*command, option_of);
  }
}

/// Of a command and of those below it that were called.
Result<void> add_outputs(const CLI::App& app, std::map<std::string, std::string>& option_of) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_type_name() != kTypeName || option->empty()) {
      continue;
    }
    const auto path = option->as<std::string>();
    if (auto folder = check_folder_of(path); !folder) {
      return fail(folder.error().code,
                  fmt::format("'{}': {}", path, folder.error().message),
                  option->get_name());
    }
    const auto identity = identity_of(path);
    if (!identity) {
      continue;
    }
    const auto [known, added] = option_of.emplace(*identity, option->get_name());
    if (!added) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' is the file of {}, too, and would be overwritten; write to "
                              "another file",
                              path,
                              known->second),
                  option->get_name());
    }
  }
  for (const CLI::App* command : app.get_subcommands()) {
    if (auto checked = add_outputs(*command, option_of); !checked) {
      return checked;
    }
  }
  return {};
}

}  // namespace

CLI::Option* add_output_option(CLI::App& command,
                               const std::string& name,
                               std::string& path,
                               const std::string& description) {
  return command.add_option(name, path, description)->type_name(kTypeName)->check(path_given);
}

Result<void> write_into_folder(const std::string& out,
                               const std::string& name,
                               std::string_view content) {
  const std::filesystem::path path = std::filesystem::path(out) / name;
  return check_folder_of(out)
      .and_then([&path] { return make_folders(path.parent_path()); })
      .and_then([&path, content] { return write_file(path, content); });
}

Result<void> check_output_files(const CLI::App& app) {
  std::map<std::string, std::string> option_of;
  add_inputs(app, option_of);
  return add_outputs(app, option_of);
}

}  // namespace stagewright
