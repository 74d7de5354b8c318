#pragma once

#include <span>
#include <string>

#include "core/base/result.h"
#include "gui/models/opened_file.h"

namespace stagewright::gui {

/// A form in which what is open can be written.  To add one, add it to the list in exporters.cpp:
/// menus and dialogs show it by themselves.
struct Exporter {
  const char* name;    ///< for people
  const char* suffix;  ///< ".svg"
  bool (*applies)(const OpenedFile& file);
  Result<std::string> (*write)(const OpenedFile& file, const ShownStep& step);
};

[[nodiscard]] std::span<const Exporter> exporters();

}  // namespace stagewright::gui
