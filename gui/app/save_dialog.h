#pragma once

#include <optional>

#include <QtCore/QList>
#include <QtCore/QString>

class QWidget;

namespace stagewright::gui {

/// A kind of file that can be written.
struct SavedKind {
  QString name;    ///< for people
  QString suffix;  ///< ".plan.json"
};

struct SavePlace {
  QString path;        ///< with the suffix of its kind
  qsizetype kind = 0;  ///< into those that could be chosen
};

/// Asks where a file shall be written, and whether what lies there may go: under the name that it
/// gets, not the one that was typed.  `name`: proposed; empty: none.  REQUIRES: a kind.
[[nodiscard]] std::optional<SavePlace> ask_where_to_save(QWidget* parent,
                                                         const QString& title,
                                                         const QString& name,
                                                         const QList<SavedKind>& kinds);

}  // namespace stagewright::gui
