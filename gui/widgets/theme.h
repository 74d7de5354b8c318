#pragma once

#include <cstdint>
#include <optional>

#include <QtCore/QString>
#include <QtGui/QColor>
#include <QtGui/QPalette>

#include "core/schedule/tensor.h"
#include "gui/models/paint_columns.h"
#include "sim/analysis/bubble_causes.h"

class QApplication;

namespace stagewright::gui {

enum class Theme : std::uint8_t {
  kSystem,  ///< light or dark, as the desktop is
  kLight,
  kDark,
  kHighContrast,
};
inline constexpr int kThemeCount = static_cast<int>(Theme::kHighContrast) + 1;
/// "system", "light", "dark", "high-contrast": for settings and the command line.
[[nodiscard]] QString name_of(Theme theme);
[[nodiscard]] std::optional<Theme> theme_named(const QString& name);

/// Sets style and palette of the whole program.
void apply_theme(QApplication& application, Theme theme);

/// The colours of drawings under a palette: widgets follow it by themselves.
[[nodiscard]] TimelineColours timeline_colours(const QPalette& palette);
[[nodiscard]] QColor colour_of(TensorClass tensor_class, const QPalette& palette);
/// Of what driver and libraries take of a device's memory.
[[nodiscard]] QColor context_colour(const QPalette& palette);
[[nodiscard]] QColor colour_of(BubbleCause cause, const QPalette& palette);
/// Of limits that are passed, and errors.
[[nodiscard]] QColor warning_colour(const QPalette& palette);

}  // namespace stagewright::gui
