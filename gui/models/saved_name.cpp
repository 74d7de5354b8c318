#include "gui/models/saved_name.h"

namespace stagewright::gui {

QString with_suffix(const QString& path, const QString& suffix) {
  if (path.endsWith(suffix)) {
    return path;
  }
  const QString last = suffix.mid(suffix.lastIndexOf(QLatin1Char('.')));
  return (path.endsWith(last) ? path.chopped(last.size()) : path) + suffix;
}

}  // namespace stagewright::gui
