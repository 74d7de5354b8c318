/// The commands that docs show print what the docs show.

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli_runner.h"
#include "core/base/file.h"
#include "tests/support/source_folder.h"

namespace stagewright {
namespace {

struct Shown {
  std::string command;
  std::vector<std::string> lines;  ///< "...": lines left out
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// The calls of stagewright in the blocks marked as console.
std::vector<Shown> shown_in(const std::string& page) {
  std::vector<Shown> all;
  bool inside = false;
  for (const std::string& line : lines_of(page)) {
    if (line.starts_with("```")) {
      inside = !inside && line == "```console";
    } else if (inside && line.starts_with("$ stagewright ")) {
      all.push_back({line.substr(std::string("$ stagewright ").size()), {}});
    } else if (inside && !all.empty()) {
      all.back().lines.push_back(line);
    }
  }
  return all;
}

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream stream(command);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

/// Whether `lines` are `pattern`, from their places on.
bool matches(const std::vector<std::string>& pattern,
             std::size_t p,
             const std::vector<std::string>& lines,
             std::size_t l) {
  if (p == pattern.size()) {
    return l == lines.size();
  }
  if (pattern[p] == "...") {
    return matches(pattern, p + 1, lines, l) ||
           (l < lines.size() && matches(pattern, p, lines, l + 1));
  }
  return l < lines.size() && pattern[p] == lines[l] && matches(pattern, p + 1, lines, l + 1);
}

class DocsCommands : public testing::TestWithParam<const char*> {};

TEST_P(DocsCommands, PrintWhatTheDocsShow) {
  const auto page = read_file(source_folder() / "docs" / GetParam());
  ASSERT_TRUE(page) << page.error().to_string();
  const std::vector<Shown> all = shown_in(*page);
  EXPECT_FALSE(all.empty());
  for (const Shown& shown : all) {
    const CliResult result = run_stagewright(words_of(shown.command));
    EXPECT_EQ(result.code, ExitCode::kSuccess) << shown.command << "\n" << result.err;
    EXPECT_TRUE(matches(shown.lines, 0, lines_of(result.out), 0))
        << "docs/" << GetParam() << ": `stagewright " << shown.command << "` prints now\n"
        << result.out;
  }
}

INSTANTIATE_TEST_SUITE_P(Pages,
                         DocsCommands,
                         testing::Values("cli.md", "schedules_for_students.md", "../README.md"),
                         [](const auto& test) {
                           return std::filesystem::path(test.param).stem().string();
                         });

}  // namespace
}  // namespace stagewright
