#include "core/base/counted.h"

#include <fmt/format.h>

namespace stagewright {

std::string counted(std::int64_t count, std::string_view noun) {
  if (count == 1) {
    return fmt::format("1 {}", noun);
  }
  constexpr std::string_view kVowels = "aeiou";
  if (noun.ends_with('y') && noun.size() > 1 &&
      kVowels.find(noun[noun.size() - 2]) == std::string_view::npos) {
    return fmt::format("{} {}ies", count, noun.substr(0, noun.size() - 1));
  }
  const bool hisses =
      noun.ends_with("ch") || noun.ends_with("sh") || noun.ends_with('s') || noun.ends_with('x');
  return fmt::format("{} {}{}", count, noun, hisses ? "es" : "s");
}

}  // namespace stagewright
