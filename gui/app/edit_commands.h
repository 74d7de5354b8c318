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
  /// Before the plan makes room for something else: asks what becomes of changes that are in no
  /// file.  Returns false where the plan has to stay.
  [[nodiscard]] bool may_leave();
  /// For the menu, in this order; "-" parts them.
  [[nodiscard]] static QStringList ids();

 private:
  void add_docks();
  void add_commands();
  void move_selected(int by);
  void move_onto(std::size_t action, std::size_t onto);
  /// Returns whether it is in a file now.
  bool save(bool schedule);

  MainWindow* window_;
  PlanEditor* editor_;
  StageBalance* balance_ = nullptr;
  PlanControls* controls_ = nullptr;
};

}  // namespace stagewright::gui
