#pragma once

#include "core/base/result.h"
#include "gui/app/program_options.h"

namespace stagewright::gui {

class MainWindow;

/// Applies what the command line says about the view.  REQUIRES: a file is open.
[[nodiscard]] Result<void> apply_view_options(const ProgramOptions& options, MainWindow& window);

/// Opens the first file, applies the options and writes the picture; nothing needs a display.
[[nodiscard]] Result<void> take_screenshot(const ProgramOptions& options, MainWindow& window);

}  // namespace stagewright::gui
