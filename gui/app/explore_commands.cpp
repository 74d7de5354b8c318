#include "gui/app/explore_commands.h"

#include <algorithm>
#include <utility>

#include <QtCore/QFileInfo>
#include <QtGui/QAction>
#include <QtWidgets/QApplication>
#include <QtWidgets/QDockWidget>
#include <QtWidgets/QTableView>

#include "gui/app/edit_commands.h"
#include "gui/app/layout_commands.h"
#include "gui/app/main_window.h"
#include "gui/app/stored_setup.h"
#include "gui/widgets/explore/candidates_panel.h"
#include "gui/widgets/explore/pareto_view.h"
#include "gui/widgets/explore/setup_panel.h"
#include "gui/widgets/message_bar.h"

namespace stagewright::gui {

ExploreCommands::ExploreCommands(MainWindow* window)
    : QObject(window), window_(window), search_(new PlanSearch(this)) {
  search_->set_profiles(window->document()->profiles());
  add_docks();
  add_commands();
  connect(search_, &PlanSearch::chosen_changed, this, &ExploreCommands::open_chosen);
  connect(setup_, &SetupPanel::search_started, this, [this] { store_setup(setup_->setup()); });
  connect(candidates_, &CandidatesPanel::save_asked, window_, [this] {
    window_->commands().find(QStringLiteral("save_plan"))->trigger();
  });
}

QStringList ExploreCommands::ids() {
  return QStringLiteral("explore search_plans - previous_plan next_plan - save_plan")
      .split(QLatin1Char(' '));
}

void ExploreCommands::add_docks() {
  setup_ = new SetupPanel(search_, window_);
  candidates_ = new CandidatesPanel(search_, window_);
  pareto_ = new ParetoView(search_, window_);
  QDockWidget* const setup =
      window_->add_dock(QStringLiteral("dock_setup"), tr("Setup"), setup_, Qt::LeftDockWidgetArea);
  QDockWidget* const candidates = window_->add_dock(
      QStringLiteral("dock_candidates"), tr("Plans"), candidates_, Qt::BottomDockWidgetArea);
  QDockWidget* const pareto = window_->add_dock(
      QStringLiteral("dock_pareto"), tr("Time and memory"), pareto_, Qt::BottomDockWidgetArea);
  docks_ = {setup, candidates, pareto};
  for (QDockWidget* const dock : {setup, candidates, pareto}) {
    dock->hide();
  }
}

void ExploreCommands::add_commands() {
  CommandSet& commands = window_->commands();
  const auto key = [](const char* text) {
    return QList<QKeySequence>{QKeySequence(QString::fromLatin1(text))};
  };
  commands.add({QStringLiteral("explore"), tr("&Plan a model..."), {QKeySequence::New}, [this] {
                  window_->layouts()->show(QStringLiteral("layout_explore"));
                  setup_->setFocus();
                }});
  QAction* const search = commands.add(
      {QStringLiteral("search_plans"), tr("&Search plans"), key("Ctrl+Return"), [this] {
         if (!is_shown()) {
           window_->layouts()->show(QStringLiteral("layout_explore"));
         }
         setup_->search_or_stop();
       }});
  connect(search_, &PlanSearch::changed, search, [this, search] {
    search->setText(search_->state() == PlanSearch::State::kRunning ? tr("&Stop the search")
                                                                    : tr("&Search plans"));
  });
  commands.add({QStringLiteral("previous_plan"),
                tr("The plan &above in the table"),
                key("Alt+PgUp"),
                [this] { choose_by(-1); }});
  commands.add(
      {QStringLiteral("next_plan"), tr("The plan &below in the table"), key("Alt+PgDown"), [this] {
         choose_by(1);
       }});
}

bool ExploreCommands::is_shown() const {
  return std::ranges::any_of(docks_, [](const QDockWidget* dock) { return !dock->isHidden(); });
}

bool ExploreCommands::has_focus() const {
  const QWidget* const focused = QApplication::focusWidget();
  return focused != nullptr && std::ranges::any_of(docks_, [&](const QDockWidget* dock) {
           return dock->isAncestorOf(focused);
         });
}

QString ExploreCommands::name_of_plan() const {
  const PlanSetup& setup = search_->setup();
  const QFileInfo model(QString::fromStdString(setup.model));
  const QFileInfo cluster(QString::fromStdString(cluster_name(setup.cluster)));
  // No file of that name is meant.
  return QStringLiteral(":search/%1-%2.plan.json")
      .arg(model.completeBaseName(), cluster.completeBaseName());
}

void ExploreCommands::open_chosen() {
  const int row = search_->chosen();
  if (restoring_) {
    return;
  }
  if (row < 0) {  // rows of another search will come
    opened_ = -1;
    return;
  }
  const CandidateRow& plan = search_->candidates()->rows()[static_cast<std::size_t>(row)];
  if (plan.state != CandidateState::kSimulated) {
    return;  // the table says why it has no timeline
  }
  if (!window_->edit()->may_leave()) {
    // Once the click is over that chose.
    QMetaObject::invokeMethod(this, &ExploreCommands::choose_opened, Qt::QueuedConnection);
    return;
  }
  auto inputs = search_->inputs_of(row);
  if (!inputs) {
    window_->message()->show_error(QString::fromStdString(inputs.error().to_string()));
    return;
  }
  opened_ = row;
  if (!at_once_) {
    window_->document()->simulate(*std::move(inputs), name_of_plan());
  } else if (const auto shown =
                 window_->document()->simulate_now(*std::move(inputs), name_of_plan());
             !shown) {
    window_->message()->show_error(QString::fromStdString(shown.error().to_string()));
  }
}

void ExploreCommands::choose_opened() {
  const OpenedFile* const file = window_->document()->file();
  const bool shown = file != nullptr && file->path == name_of_plan().toStdString();
  restoring_ = true;
  search_->choose(shown ? opened_ : -1);
  restoring_ = false;
}

void ExploreCommands::choose_by(int rows) {
  QTableView* const table = candidates_->table();
  const int row = table->currentIndex().row() + rows;
  if (row >= 0 && row < candidates_->shown()->rowCount()) {
    table->setCurrentIndex(candidates_->shown()->index(row, 0));
  }
}

Result<void> ExploreCommands::explore_now(const PlanSetup& setup) {
  setup_->set_setup(setup);
  setup_->check_now();
  at_once_ = true;
  search_->search_now(setup);
  at_once_ = false;
  if (search_->state() == PlanSearch::State::kFailed) {
    return fail(ErrorCode::kInfeasible, search_->error().toStdString());
  }
  return {};
}

}  // namespace stagewright::gui
