#pragma once

#include <QtCore/QObject>

#include "core/base/result.h"
#include "gui/app/command_set.h"
#include "gui/models/plan_search.h"

class QDockWidget;

namespace stagewright::gui {

class CandidatesPanel;
class MainWindow;
class ParetoView;
class SetupPanel;

/// Searching plans: its docks and commands.  The plan that is chosen among those found is opened.
class ExploreCommands : public QObject {
  Q_OBJECT

 public:
  /// Adds docks and commands to the window, to which it belongs.
  explicit ExploreCommands(MainWindow* window);

  [[nodiscard]] PlanSearch* search() { return search_; }
  [[nodiscard]] SetupPanel* setup() { return setup_; }
  [[nodiscard]] CandidatesPanel* candidates() { return candidates_; }
  [[nodiscard]] ParetoView* pareto() { return pareto_; }
  /// Whether a dock shows what there is without a file.
  [[nodiscard]] bool owns(const QDockWidget* dock) const { return docks_.contains(dock); }
  [[nodiscard]] bool is_shown() const;
  /// Whether somebody types or chooses there.
  [[nodiscard]] bool has_focus() const;
  /// Searches and opens the best plan at once, for pictures without an event loop.
  [[nodiscard]] Result<void> explore_now(const PlanSetup& setup);
  /// For the menu, in this order; "-" parts them.
  [[nodiscard]] static QStringList ids();

 private:
  void add_docks();
  void add_commands();
  void open_chosen();
  /// Views mark the plan that is shown: another could not take its place.
  void choose_opened();
  void choose_by(int rows);
  /// Under which a plan of the search is opened.
  [[nodiscard]] QString name_of_plan() const;

  MainWindow* window_;
  PlanSearch* search_;
  SetupPanel* setup_ = nullptr;
  CandidatesPanel* candidates_ = nullptr;
  ParetoView* pareto_ = nullptr;
  QList<const QDockWidget*> docks_;
  int opened_ = -1;         ///< the row whose plan was opened last
  bool restoring_ = false;  ///< what is chosen is open already
  bool at_once_ = false;    ///< what is chosen opens before choosing returns
};

}  // namespace stagewright::gui
