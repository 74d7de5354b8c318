#pragma once

#include <QtCore/QObject>
#include <QtCore/QStringList>

namespace stagewright::gui {

class MainWindow;
class RunPanel;

/// Running the open plan: a dock and commands.
class RunCommands : public QObject {
  Q_OBJECT

 public:
  /// Adds them to the window, to which it belongs.
  explicit RunCommands(MainWindow* window);

  [[nodiscard]] RunPanel* panel() { return panel_; }
  /// For the menu, in this order.
  [[nodiscard]] static QStringList ids();

 private:
  RunPanel* panel_;
};

}  // namespace stagewright::gui
