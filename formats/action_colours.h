#pragma once

#include <cstdint>
#include <string_view>

#include "core/schedule/action.h"

namespace stagewright {

/// How drawings show a kind of action: a colour that people with any colour vision tell from the
/// others (after Okabe and Ito), and a letter that says the same.
struct ActionLook {
  std::uint32_t fill = 0;         ///< 0xRRGGBB
  std::uint32_t second_fill = 0;  ///< of every second stage of a rank
  bool white_text = false;        ///< else black
  char letter = ' ';
  std::string_view meaning;  ///< for legends
  friend bool operator==(const ActionLook&, const ActionLook&) = default;
};
[[nodiscard]] const ActionLook& look_of(ActionKind kind);

}  // namespace stagewright
