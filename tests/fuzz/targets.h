#pragma once

/// What fuzzing calls.  A target reads arbitrary bytes with one reader; what the reader accepts is
/// used further (checked, written, read again).  It ends the process where a promise does not hold,
/// and returns for every input, sensible or not.  libFuzzer drives a target in fuzz_main.cpp, the
/// test fuzz_replay_test.cpp replays its corpus.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stagewright {

struct FuzzTarget {
  std::string_view name;  ///< also the folder of its corpus
  void (*run)(std::string_view input);
  /// Inputs to start from: files of this repository, or written by this program.
  std::vector<std::string> (*seeds)();
};

[[nodiscard]] std::span<const FuzzTarget> fuzz_targets();

/// REQUIRES: a target of that name.
[[nodiscard]] const FuzzTarget& fuzz_target(std::string_view name);

}  // namespace stagewright
