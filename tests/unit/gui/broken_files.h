#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stagewright::test {

struct NamedContent {
  std::string name;
  std::string content;
};

/// A good file of every kind that the desktop application opens.
[[nodiscard]] std::vector<NamedContent> files_of_every_kind();

/// One cut, or with bytes changed, taken out or doubled, as the seed says.
[[nodiscard]] std::string broken(std::string content, std::uint32_t seed);

}  // namespace stagewright::test
