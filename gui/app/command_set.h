#pragma once

#include <functional>

#include <QtCore/QList>
#include <QtCore/QString>
#include <QtGui/QKeySequence>

class QAction;
class QWidget;

namespace stagewright::gui {

/// One thing that the program can do.
struct Command {
  QString id;    ///< stable: keys are stored under it, tests and screen readers find it by it
  QString text;  ///< as menus and the palette show it
  QList<QKeySequence> keys{};  ///< unless the user chose others
  std::function<void()> run{};
  bool checkable = false;
};

/// All commands of a window: each is one QAction, in menus and palette alike, with keys that the
/// user may change.
class CommandSet {
 public:
  /// The actions belong to `window`.
  explicit CommandSet(QWidget* window) : window_(window) {}

  /// Its keys work wherever the window has the focus; with `scope`, only within that widget, so
  /// that letters can be typed elsewhere.
  QAction* add(const Command& command, QWidget* scope = nullptr);

  [[nodiscard]] const QList<QAction*>& actions() const { return actions_; }
  /// Null if there is none.
  [[nodiscard]] QAction* find(const QString& id) const;
  [[nodiscard]] QList<QKeySequence> default_keys(const QAction* action) const;
  /// Who else has one of these keys; null if nobody.
  [[nodiscard]] QAction* holder_of(const QKeySequence& key, const QAction* besides) const;
  /// Remembers them in the settings; the default keys are forgotten.
  void set_keys(QAction* action, const QList<QKeySequence>& keys);

 private:
  QWidget* window_;
  QList<QAction*> actions_;
};

}  // namespace stagewright::gui
