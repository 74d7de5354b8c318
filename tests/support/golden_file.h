#pragma once

#include <string>

#include <gtest/gtest.h>

namespace stagewright {

/// Whether `text` is the content of tests/golden/<name>; if not, says in which line they part.
/// With STAGEWRIGHT_UPDATE_GOLDEN set in the environment the file is written instead, for
/// review as a change of the source.
[[nodiscard]] testing::AssertionResult matches_golden(const std::string& name,
                                                      const std::string& text);

}  // namespace stagewright
