#pragma once

#include <QtCore/QObject>
#include <QtCore/QStringList>

class QMenu;

namespace stagewright::gui {

class MainWindow;

/// Which docks stand around the timeline for what work, and arrangements that the user saved.
class LayoutCommands : public QObject {
  Q_OBJECT

 public:
  /// Adds commands to the window, to which it belongs.  REQUIRES: its docks are there.
  explicit LayoutCommands(MainWindow* window);

  /// "layout_explore", "layout_analyse", ...: shows its docks and hides the others.
  void show(const QString& id);
  /// Remembers where everything stands, under a name.
  void save(const QString& name);
  /// Puts everything back as it was saved; nothing if there is none of that name.
  void restore(const QString& name);
  void forget(const QString& name);
  [[nodiscard]] static QStringList saved();
  /// Lists what was saved.
  void fill_menu(QMenu* menu);
  /// For the menu, in this order; "-" parts them.
  [[nodiscard]] static QStringList ids();

 private:
  void ask_and_save();

  MainWindow* window_;
};

}  // namespace stagewright::gui
