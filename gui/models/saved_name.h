#pragma once

#include <QtCore/QString>

namespace stagewright::gui {

/// The path with a suffix such as ".plan.json", by which a file's kind is known.  What it has of
/// that at its end counts: "x" and "x.json" both become "x.plan.json".
[[nodiscard]] QString with_suffix(const QString& path, const QString& suffix);

}  // namespace stagewright::gui
