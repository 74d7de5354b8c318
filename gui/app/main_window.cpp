#include "gui/app/main_window.h"

#include <cmath>
#include <utility>

#include <QtCore/QFileInfo>
#include <QtCore/QMimeData>
#include <QtCore/QSettings>
#include <QtGui/QCloseEvent>
#include <QtGui/QDragEnterEvent>
#include <QtWidgets/QApplication>
#include <QtWidgets/QDockWidget>
#include <QtWidgets/QLabel>
#include <QtWidgets/QMenu>
#include <QtWidgets/QStackedWidget>
#include <QtWidgets/QStatusBar>
#include <QtWidgets/QVBoxLayout>

#include "gui/app/autosave.h"
#include "gui/app/edit_commands.h"
#include "gui/app/explore_commands.h"
#include "gui/app/layout_commands.h"
#include "gui/app/run_commands.h"
#include "gui/app/stored_session.h"
#include "gui/app/stored_setup.h"
#include "gui/models/statistics_model.h"
#include "gui/models/words.h"
#include "gui/widgets/cause_bars.h"
#include "gui/widgets/command_palette.h"
#include "gui/widgets/compare_panel.h"
#include "gui/widgets/explore/setup_panel.h"
#include "gui/widgets/memory_view.h"
#include "gui/widgets/message_bar.h"
#include "gui/widgets/rows_panel.h"
#include "gui/widgets/search_bar.h"
#include "gui/widgets/start_page.h"
#include "gui/widgets/statistics_panel.h"
#include "gui/widgets/timeline/overview_strip.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace stagewright::gui {
namespace {

constexpr int kWidth = 1440;
constexpr int kHeight = 900;

}  // namespace

MainWindow::MainWindow(const std::string& profiles, QWidget* parent)
    : QMainWindow(parent), commands_(this) {
  document_.set_profiles(profiles);
  setObjectName(QStringLiteral("main"));
  setWindowTitle(tr("Stagewright"));
  setAcceptDrops(true);
  setDockNestingEnabled(true);
  resize(kWidth, kHeight);
  build_centre();
  build_docks();
  edit_ = new EditCommands(this);
  run_ = new RunCommands(this);
  explore_ = new ExploreCommands(this);
  layouts_ = new LayoutCommands(this);
  autosave_ = new Autosave(this);
  build_commands();
  build_menus();
  palette_ = new CommandPalette(commands_.actions(), this);
  first_state_ = saveState();
  connect(&document_, &Document::changed, this, &MainWindow::take_document);
  connect(&document_, &Document::failed, message_, &MessageBar::show_error);
  connect(&document_, &Document::working, message_, &MessageBar::show_work);
  connect(&document_, &Document::idle, message_, &MessageBar::work_done);
  connect(message_, &MessageBar::cancelled, &document_, &Document::cancel);
  connect(&exports_, &FileExport::failed, message_, &MessageBar::show_error);
  connect(&exports_, &FileExport::failed, statusBar(), &QStatusBar::clearMessage);
  connect(&exports_, &FileExport::written, this, &MainWindow::note_written);
  take_document();
}

void MainWindow::build_centre() {
  timeline_ = new TimelineView(&document_, &selection_, this);
  overview_ = new OverviewStrip(timeline_, this);
  search_ = new SearchBar(timeline_, this);
  message_ = new MessageBar(this);
  start_ = new StartPage(this);
  auto* const drawing = new QWidget(this);
  auto* const rows = new QVBoxLayout(drawing);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  rows->addWidget(search_);
  rows->addWidget(overview_);
  rows->addWidget(timeline_, 1);
  pages_ = new QStackedWidget(this);
  pages_->addWidget(start_);
  pages_->addWidget(drawing);
  auto* const centre = new QWidget(this);
  auto* const layout = new QVBoxLayout(centre);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(message_);
  layout->addWidget(pages_, 1);
  setCentralWidget(centre);
  connect(search_, &SearchBar::closed, this, [this] {
    search_->hide();
    search_->search({});
    timeline_->setFocus();
  });
  connect(start_, &StartPage::explore_asked, this, [this] {
    commands_.find(QStringLiteral("explore"))->trigger();
  });
  connect(start_, &StartPage::open_asked, this, &MainWindow::choose_file);
  connect(start_, &StartPage::example_asked, this, &MainWindow::open_example);
  connect(start_, &StartPage::file_chosen, this, &MainWindow::open);
  connect(timeline_, &TimelineView::window_changed, this, &MainWindow::update_status);
  connect(timeline_, &TimelineView::pointed_at, this, [this](std::optional<double> time) {
    const bool known = time && document_.file() != nullptr;
    status_pointer_->setText(
        known ? time_text(Duration(static_cast<std::int64_t>(*time)), document_.file()->unit)
              : QString());
  });
  connect(&selection_, &Selection::changed, this, &MainWindow::update_status);
  status_file_ = new QLabel(this);
  status_view_ = new QLabel(this);
  status_pointer_ = new QLabel(this);
  statusBar()->addWidget(status_file_, 1);
  statusBar()->addPermanentWidget(status_pointer_);
  statusBar()->addPermanentWidget(status_view_);
}

QDockWidget* MainWindow::add_dock(const QString& name,
                                  const QString& title,
                                  QWidget* view,
                                  Qt::DockWidgetArea area) {
  auto* const dock = new QDockWidget(title, this);
  dock->setObjectName(name);
  dock->setWidget(view);
  addDockWidget(area, dock);
  return dock;
}

void MainWindow::build_docks() {
  setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
  setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
  rows_ = new RowsPanel(timeline_, this);
  memory_ = new MemoryView(timeline_, this);
  statistics_ = new StatisticsPanel(&document_, &selection_, this);
  causes_ = new CauseBars(&document_, this);
  add_dock(QStringLiteral("dock_rows"), tr("Rows"), rows_, Qt::LeftDockWidgetArea)->hide();
  QDockWidget* const memory =
      add_dock(QStringLiteral("dock_memory"), tr("Memory"), memory_, Qt::BottomDockWidgetArea);
  QDockWidget* const statistics = add_dock(
      QStringLiteral("dock_statistics"), tr("Statistics"), statistics_, Qt::RightDockWidgetArea);
  QDockWidget* const causes =
      add_dock(QStringLiteral("dock_causes"), tr("Idle time"), causes_, Qt::RightDockWidgetArea);
  compare_ = new ComparePanel(&document_, &selection_, this);
  QDockWidget* const compare =
      add_dock(QStringLiteral("dock_compare"), tr("Compare"), compare_, Qt::RightDockWidgetArea);
  tabifyDockWidget(statistics, compare);
  statistics->raise();
  connect(compare_, &ComparePanel::compare_asked, this, &MainWindow::choose_comparison);
  connect(compare_, &ComparePanel::action_chosen, timeline_, &TimelineView::bring_into_view);
  resizeDocks({memory}, {200}, Qt::Vertical);
  resizeDocks({statistics, causes}, {440, 440}, Qt::Horizontal);
  resizeDocks({statistics, causes}, {420, 300}, Qt::Vertical);
  connect(causes_, &CauseBars::rank_chosen, this, [this](RankId rank) {
    const auto actions = document_.actions();
    if (actions && !actions->lanes_of(rank).empty()) {
      timeline_->bring_into_view(actions->lanes_of(rank).front().begin);
    }
  });
}

void MainWindow::take_document() {
  const OpenedFile* const file = document_.file();
  pages_->setCurrentIndex(file == nullptr ? 0 : 1);
  show_docks(file != nullptr);
  if (file == nullptr) {
    setWindowTitle(tr("Stagewright"));
    start_->set_recent(recent());
  } else {
    const auto name = [](const OpenedFile& each) {
      return QFileInfo(QString::fromStdString(each.path)).fileName();
    };
    const OpenedFile* const other = document_.other_file();
    setWindowTitle(
        tr("%1[*] - Stagewright")
            .arg(other == nullptr ? name(*file) : tr("%1 and %2").arg(name(*file), name(*other))));
    message_->work_done();
    if (message_->shows_error()) {
      message_->hide();
    }
    if (!document_.shows_revision()) {
      remember(QString::fromStdString(file->path));
      timeline_->fit_rows();
      if (!explore_->has_focus()) {  // somebody goes through plans
        timeline_->setFocus();
      }
    }
  }
  update_status();
}

/// Without a file they would be empty frames around the start page; but a search needs none.
void MainWindow::show_docks(bool show) {
  if (show && state_with_file_) {
    const bool exploring = explore_->is_shown();
    const QByteArray state = *std::exchange(state_with_file_, std::nullopt);
    if (exploring) {
      layouts_->show(QStringLiteral("layout_explore"));
    } else {
      restoreState(state);
    }
  } else if (!show && !state_with_file_) {
    state_with_file_ = saveState();
    for (QDockWidget* const dock : findChildren<QDockWidget*>()) {
      dock->setVisible(explore_->owns(dock) && dock->isVisible());
    }
  }
}

void MainWindow::update_status() {
  const OpenedFile* const file = document_.file();
  if (file == nullptr) {
    status_file_->clear();
    status_view_->clear();
    return;
  }
  const auto action = selection_.action();
  status_file_->setText(action                ? describe(*document_.actions(), *action)
                        : file->title.empty() ? word_for(file->kind)
                                              : QString::fromStdString(file->title));
  const TimeWindow& window = timeline_->window_shown();
  const Duration start(std::llround(std::max(0.0, window.start)));
  const Duration end(std::llround(std::max(0.0, window.end())));
  // Zero has the unit of the other end.
  const TimeUnit unit =
      start == Duration{} && !file->unit.name.empty() ? usual_unit(end) : file->unit;
  const QString step =
      file->trace.steps > 1
          ? tr("step %1 of %2   ").arg(document_.step()->step + 1).arg(file->trace.steps)
          : QString();
  status_view_->setText(step + tr("%1 to %2").arg(time_text(start, unit), time_text(end, unit)));
}

void MainWindow::draw_now() {
  document_.analyse_now();
  timeline_->draw_now();
  overview_->draw_now();
}

void MainWindow::set_theme(Theme theme) {
  apply_theme(*qobject_cast<QApplication*>(QCoreApplication::instance()), theme);
  QSettings().setValue(QStringLiteral("theme"), name_of(theme));
}

bool MainWindow::restore_session(const QString& asked) {
  explore_->setup()->set_setup(stored_setup());
  const QSettings settings;
  restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
  const QByteArray state = settings.value(QStringLiteral("window/state")).toByteArray();
  if (state_with_file_ && !state.isEmpty()) {
    state_with_file_ = state;
  } else {
    restoreState(state);
  }
  return autosave_->recover(asked);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!edit_->may_leave()) {
    event->ignore();
    return;
  }
  autosave_->forget();
  QSettings settings;
  settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
  settings.setValue(QStringLiteral("window/state"), state_with_file_.value_or(saveState()));
  store_session(*this);
  QMainWindow::closeEvent(event);
}

void MainWindow::reset_layout() {
  restoreState(first_state_);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) {
    event->acceptProposedAction();
  }
}

void MainWindow::dropEvent(QDropEvent* event) {
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) {
      open(url.toLocalFile());
      return;
    }
  }
  message_->show_error(tr("Only files of this machine can be opened; save it first."));
}

}  // namespace stagewright::gui
