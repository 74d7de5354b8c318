/// Runs every fuzzing target, without libFuzzer, over its seeds, over the inputs that fuzzing found
/// something with (tests/fuzz/corpus/TARGET), and over small random changes of both.

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "targets.h"
#include "tests/support/source_folder.h"

namespace stagewright {
namespace {

class FuzzReplay : public testing::TestWithParam<FuzzTarget> {
 protected:
  static std::vector<std::string> corpus() {
    std::vector<std::string> inputs = GetParam().seeds();
    const auto folder = source_folder() / "tests/fuzz/corpus" / GetParam().name;
    if (std::filesystem::exists(folder)) {
      for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const auto content = read_file(entry.path());
        EXPECT_TRUE(content.has_value()) << entry.path();
        inputs.push_back(content.value_or(""));
      }
    }
    return inputs;
  }
};

TEST_P(FuzzReplay, TakesItsCorpus) {
  for (const std::string& input : corpus()) {
    GetParam().run(input);
  }
}

/// One to three changes of a byte, a digit, or a piece.
std::string changed(std::string text, std::mt19937_64& random) {
  const auto below = [&random](std::size_t limit) {
    return limit == 0 ? 0 : static_cast<std::size_t>(random() % limit);
  };
  for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
    const std::size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 1:
        text.erase(at, 1 + below(16));
        break;
      case 2:
        text.insert(below(text.size()), text.substr(at, below(32)));
        break;
      case 3:
        text.insert(at, std::to_string(random() >> below(64)));
        break;
      default:
        text.resize(at);
        break;
    }
  }
  return text;
}

TEST_P(FuzzReplay, TakesChangesOfIt) {
  constexpr int kChanges = 500;
  constexpr std::uint64_t kSeed = 20250101;
  RecordProperty("seed", std::to_string(kSeed));
  std::mt19937_64 random(kSeed);
  const std::vector<std::string> inputs = corpus();
  for (int i = 0; i < kChanges; ++i) {
    GetParam().run(changed(inputs[random() % inputs.size()], random));
  }
}

INSTANTIATE_TEST_SUITE_P(Readers,
                         FuzzReplay,
                         testing::ValuesIn(fuzz_targets().begin(), fuzz_targets().end()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace stagewright
