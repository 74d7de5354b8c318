#pragma once

namespace stagewright {

/// What the program writes its results and its progress to.
struct Terminal {
  bool progress = false;  ///< the standard error is one: progress may be drawn
  bool colour = false;   ///< the standard output is one that shows colours, and NO_COLOR is not set
  bool unicode = false;  ///< the locale's characters are UTF-8
  int columns = 100;     ///< of the standard output; what $COLUMNS says goes before
};

/// Asks the operating system and the environment.
[[nodiscard]] Terminal this_terminal();

}  // namespace stagewright
