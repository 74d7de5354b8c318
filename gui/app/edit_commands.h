#pragma once

#include <QtCore/QObject>

#include "gui/app/command_set.h"

namespace stagewright::gui {

class MainWindow;
class PlanControls;
class PlanEditor;
class StageBalance;

/// Changing the open plan: its docks, and the commands that undo, save, and move actions.
class EditCommands : public QObject {
  Q_OBJECT

 public:
  /// Adds docks and commands to the window, to which it belongs.
  explicit EditCommands(MainWindow* window);

  [[nodiscard]] PlanEditor* editor() { return editor_; }
  [[nodiscard]] StageBalance* balance() { return balance_; }
  [[nodiscard]] PlanControls* controls() { return controls_; }
  /// For the menu, in this order; "-" parts them.
  [[nodiscard]] static QStringList ids();

 private:
  void add_docks();
  void add_commands();
  void move_selected(int by);
  void move_onto(std::size_t action, std::size_t onto);
  void save(bool schedule);

  MainWindow* window_;
  PlanEditor* editor_;
  StageBalance* balance_ = nullptr;
  PlanControls* controls_ = nullptr;
};

}  // namespace stagewright::gui
