// Every command of the window, and the menus that show them.

#include <array>

#include <QtCore/QSettings>
#include <QtGui/QActionGroup>
#include <QtWidgets/QApplication>
#include <QtWidgets/QDockWidget>
#include <QtWidgets/QMenu>
#include <QtWidgets/QMenuBar>

#include "gui/app/edit_commands.h"
#include "gui/app/explore_commands.h"
#include "gui/app/layout_commands.h"
#include "gui/app/main_window.h"
#include "gui/app/run_commands.h"
#include "gui/widgets/command_palette.h"
#include "gui/widgets/memory_view.h"
#include "gui/widgets/search_bar.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace stagewright::gui {
namespace {

QKeySequence key(const char* text) {
  return QKeySequence(QString::fromLatin1(text));
}

}  // namespace

void MainWindow::build_commands() {
  add_file_commands();
  add_view_commands();
  add_theme_commands();
  add_colour_commands();
  add_moving_commands();
  add_selecting_commands();
  add_row_commands();
  add_step_commands();
}

void MainWindow::add_file_commands() {
  commands_.add(
      {QStringLiteral("open"), tr("&Open..."), {QKeySequence::Open}, [this] { choose_file(); }});
  commands_.add(
      {QStringLiteral("example"), tr("Open the &example"), {}, [this] { open_example(); }});
  commands_.add({QStringLiteral("close"), tr("&Close"), {QKeySequence::Close}, [this] {
                   if (edit_->may_leave()) {
                     document_.close();
                   }
                 }});
  commands_.add(
      {QStringLiteral("compare"), tr("Compare &with another, or stop"), {key("Ctrl+D")}, [this] {
         toggle_comparison();
       }});
  commands_.add({QStringLiteral("save_picture"),
                 tr("Save the timeline as a &picture..."),
                 {key("Ctrl+Shift+E")},
                 [this] { save_picture(); }});
  commands_.add(
      {QStringLiteral("export"), tr("&Export..."), {key("Ctrl+E")}, [this] { export_file(); }});
  commands_.add({QStringLiteral("quit"), tr("&Quit"), {QKeySequence::Quit}, [this] { close(); }});
}

void MainWindow::add_view_commands() {
  commands_.add({QStringLiteral("palette"), tr("Find a &command..."), {key("Ctrl+K")}, [this] {
                   palette_->open();
                 }});
  commands_.add({QStringLiteral("keys"), tr("&Keys..."), {}, [this] { show_keys(); }});
  commands_.add({QStringLiteral("full_screen"), tr("F&ull screen"), {key("F11")}, [this] {
                   setWindowState(windowState() ^ Qt::WindowFullScreen);
                 }});
  commands_.add(
      {QStringLiteral("reset_layout"), tr("&Reset the layout"), {}, [this] { reset_layout(); }});
  commands_.add({QStringLiteral("next_view"), tr("Go to the &next view"), {key("F6")}, [this] {
                   focusNextChild();
                 }});
  for (QDockWidget* const dock : findChildren<QDockWidget*>()) {
    QAction* const toggle = dock->toggleViewAction();
    QAction* const command =
        commands_.add({dock->objectName(), tr("Show %1").arg(dock->windowTitle()), {}, {}, true});
    command->setChecked(!dock->isHidden());
    connect(toggle, &QAction::toggled, command, &QAction::setChecked);
    connect(command, &QAction::triggered, dock, &QDockWidget::setVisible);
  }
  QAction* const fullest = commands_.add(
      {QStringLiteral("fullest_first"), tr("Memory: &fullest ranks first"), {}, {}, true});
  connect(fullest, &QAction::toggled, memory_, &MemoryView::set_fullest_first);
}

void MainWindow::add_theme_commands() {
  themes_ = new QActionGroup(this);
  const std::array<std::pair<Theme, QString>, kThemeCount> themes{
      std::pair{Theme::kSystem, tr("Theme: like the &desktop")},
      std::pair{Theme::kLight, tr("Theme: &light")},
      std::pair{Theme::kDark, tr("Theme: d&ark")},
      std::pair{Theme::kHighContrast, tr("Theme: high &contrast")}};
  const QString chosen =
      QSettings().value(QStringLiteral("theme"), name_of(Theme::kSystem)).toString();
  for (const auto& [theme, text] : themes) {
    QAction* const action = commands_.add({QStringLiteral("theme_") + name_of(theme),
                                           text,
                                           {},
                                           [this, theme = theme] { set_theme(theme); },
                                           true});
    themes_->addAction(action);
    action->setChecked(name_of(theme) == chosen);
  }
}

void MainWindow::add_colour_commands() {
  auto* const colours = new QActionGroup(this);
  const std::array<std::pair<ColourBy, QString>, kColourByCount> ways{
      std::pair{ColourBy::kAction, tr("Colour by &action")},
      std::pair{ColourBy::kMicroBatch, tr("Colour by &micro-batch")},
      std::pair{ColourBy::kStage, tr("Colour by &stage")},
      std::pair{ColourBy::kSlack, tr("Colour by sl&ack")}};
  for (const auto& [by, text] : ways) {
    QAction* const action = commands_.add({QStringLiteral("colour_%1").arg(static_cast<int>(by)),
                                           text,
                                           {},
                                           [this, by = by] { timeline_->set_colour_by(by); },
                                           true});
    colours->addAction(action);
    action->setChecked(by == timeline_->colour_by());
    connect(timeline_, &TimelineView::look_changed, action, [this, action, by = by] {
      action->setChecked(timeline_->colour_by() == by);
    });
  }
  QAction* const gaps =
      commands_.add({QStringLiteral("gaps"),
                     tr("Tint &idle time by cause"),
                     {key("I")},
                     [this] { timeline_->set_show_gaps(!timeline_->shows_gaps()); },
                     true},
                    timeline_);
  QAction* const path =
      commands_.add({QStringLiteral("path"),
                     tr("Show the critical &path"),
                     {key("X")},
                     [this] { timeline_->set_show_path(!timeline_->shows_path()); },
                     true},
                    timeline_);
  const auto check = [this, gaps, path] {
    gaps->setChecked(timeline_->shows_gaps());
    path->setChecked(timeline_->shows_path());
  };
  connect(timeline_, &TimelineView::look_changed, this, check);
  check();
}

void MainWindow::add_here(const char* id,
                          const QString& text,
                          std::initializer_list<const char*> keys,
                          std::function<void()> run) {
  QList<QKeySequence> sequences;
  for (const char* const each : keys) {
    sequences.push_back(key(each));
  }
  commands_.add({QString::fromLatin1(id), text, sequences, std::move(run)}, timeline_);
}

void MainWindow::add_moving_commands() {
  constexpr double kZoom = 1.4;
  constexpr double kPan = 0.15;
  TimelineView* const view = timeline_;
  add_here("zoom_in", tr("Zoom &in"), {"W", "+", "="}, [view] { view->zoom(kZoom); });
  add_here("zoom_out", tr("Zoom &out"), {"S", "-"}, [view] { view->zoom(1 / kZoom); });
  add_here("pan_left", tr("Move &left"), {"A"}, [view] { view->pan(-kPan); });
  add_here("pan_right", tr("Move &right"), {"D"}, [view] { view->pan(kPan); });
  add_here("fit", tr("&Fit the step"), {"F"}, [view] { view->fit(); });
  add_here(
      "zoom_selection", tr("Zoom to the &selection"), {"Z"}, [view] { view->zoom_to_selection(); });
  add_here("view_back", tr("View &back"), {"Backspace", "Alt+Left"}, [view] { view->view_back(); });
  add_here("view_forward", tr("View for&ward"), {"Shift+Backspace", "Alt+Right"}, [view] {
    view->view_forward();
  });
  add_here("mark", tr("&Mark"), {"M"}, [view] { view->add_mark(false); });
  add_here("mark_kept", tr("Mark and &keep"), {"Shift+M"}, [view] { view->add_mark(true); });
  add_here("next_mark", tr("Next mark"), {"N"}, [view] { view->go_to_next_mark(); });
}

void MainWindow::add_selecting_commands() {
  TimelineView* const view = timeline_;
  constexpr Direction kForth = Direction::kForth;
  constexpr Direction kBack = Direction::kBack;
  add_here(
      "next_action", tr("&Next action"), {"Right"}, [view] { view->select_neighbour(kForth); });
  add_here("previous_action", tr("&Previous action"), {"Left"}, [view] {
    view->select_neighbour(kBack);
  });
  add_here("row_below", tr("Same time, row below"), {"Down"}, [view] {
    view->select_in_next_row(kForth);
  });
  add_here(
      "row_above", tr("Same time, row above"), {"Up"}, [view] { view->select_in_next_row(kBack); });
  add_here("next_of_micro_batch", tr("Next action of the micro-batch"), {"Shift+Right"}, [view] {
    view->select_same_micro_batch(kForth);
  });
  add_here(
      "previous_of_micro_batch", tr("Previous action of the micro-batch"), {"Shift+Left"}, [view] {
        view->select_same_micro_batch(kBack);
      });
  add_here("cause", tr("What it waited for"), {"["}, [view] { view->select_cause(false); });
  add_here(
      "cause_chain", tr("All that it waited for"), {"{"}, [view] { view->select_cause(true); });
  add_here("effect", tr("What it held up"), {"]"}, [view] { view->select_effect(); });
  add_here("follow", tr("Fo&llow the micro-batch"), {"B"}, [view] { view->toggle_follow(); });
  add_here("clear_selection", tr("Select nothing"), {"Esc"}, [view] { view->clear_selection(); });
  commands_.add({QStringLiteral("search"), tr("&Search actions..."), {key("Ctrl+F")}, [this] {
                   search_->start();
                 }});
  add_here("search_here", tr("Search actions here"), {"/"}, [this] { search_->start(); });
  add_here("next_hit", tr("Next found action"), {"F3"}, [view] { view->select_hit(kForth); });
  add_here("previous_hit", tr("Previous found action"), {"Shift+F3"}, [view] {
    view->select_hit(kBack);
  });
}

void MainWindow::add_row_commands() {
  constexpr double kHigher = 1.3;
  TimelineView* const view = timeline_;
  add_here("rows_higher", tr("Rows &higher"), {"Ctrl++", "Ctrl+="}, [view] {
    view->change_row_height(kHigher);
  });
  add_here("rows_lower", tr("Rows &lower"), {"Ctrl+-"}, [view] {
    view->change_row_height(1 / kHigher);
  });
  add_here("fit_rows", tr("&Fit all rows"), {"Shift+F"}, [view] { view->fit_rows(); });
  add_here("pin", tr("&Pin the rank"), {"P"}, [view] { view->pin_selected_rank(); });
  add_here("hide", tr("H&ide the rank"), {"H"}, [view] { view->hide_selected_rank(); });
  add_here("show_all", tr("&Show all ranks"), {"Shift+H"}, [view] { view->show_all_ranks(); });
  add_here(
      "group", tr("&Group rows by the next axis"), {"G"}, [view] { view->group_by_next_axis(); });
  const auto toggle = [view] {
    RowChoices choices = view->choices();
    choices.communication = !choices.communication;
    view->set_choices(choices);
  };
  QAction* const messages = commands_.add(
      {QStringLiteral("messages"), tr("Rows of &communication"), {key("Shift+C")}, toggle, true},
      view);
  const auto check = [view, messages] { messages->setChecked(view->choices().communication); };
  connect(view, &TimelineView::choices_changed, messages, check);
  check();
}

void MainWindow::add_step_commands() {
  commands_.add(
      {QStringLiteral("next_step"), tr("Next optimizer step"), {key("Ctrl+Right")}, [this] {
         show_step(1);
       }});
  commands_.add(
      {QStringLiteral("previous_step"), tr("Previous optimizer step"), {key("Ctrl+Left")}, [this] {
         show_step(-1);
       }});
}

void MainWindow::show_step(int by) {
  if (document_.file() == nullptr) {
    return;
  }
  const int step = document_.step()->step + by;
  if (step >= 0 && step < document_.file()->trace.steps) {
    document_.show_step(step);
  }
}

QMenu* MainWindow::menu_of(const QString& title, const QStringList& commands) {
  QMenu* const menu = menuBar()->addMenu(title);
  for (const QString& id : commands) {
    if (QAction* const action = commands_.find(id)) {
      menu->addAction(action);
    } else {
      menu->addSeparator();
    }
  }
  return menu;
}

void MainWindow::build_menus() {
  const auto ids = [](const char* text) {
    return QString::fromLatin1(text).split(QLatin1Char(' '));
  };
  QMenu* const file =
      menu_of(tr("&File"), ids("explore open example compare close - export save_picture - quit"));
  recent_menu_ = new QMenu(tr("&Recent"), this);
  connect(recent_menu_, &QMenu::aboutToShow, this, &MainWindow::fill_recent_menu);
  file->insertMenu(commands_.find(QStringLiteral("close")), recent_menu_);
  menu_of(tr("&Edit"), EditCommands::ids());
  menu_of(tr("&Plan"), ExploreCommands::ids());
  menu_of(tr("R&un"), RunCommands::ids());
  menu_of(tr("&View"),
          ids("palette search - zoom_in zoom_out pan_left pan_right fit zoom_selection view_back "
              "view_forward - gaps path - colour_0 colour_1 colour_2 colour_3 - theme_system "
              "theme_light theme_dark theme_high-contrast"));
  menu_of(tr("&Go"),
          ids("previous_action next_action row_above row_below previous_of_micro_batch "
              "next_of_micro_batch - cause cause_chain effect follow - mark mark_kept next_mark - "
              "previous_hit next_hit - previous_step next_step - clear_selection"));
  menu_of(tr("&Rows"), ids("group - rows_higher rows_lower fit_rows - pin hide show_all messages"));
  QMenu* const window =
      menu_of(tr("&Window"),
              ids("dock_setup dock_candidates dock_pareto dock_plan dock_stages dock_run dock_rows "
                  "dock_memory dock_statistics dock_compare dock_causes fullest_first -") +
                  LayoutCommands::ids() + ids("reset_layout - next_view full_screen - keys"));
  layout_menu_ = new QMenu(tr("Saved &layouts"), this);
  connect(layout_menu_, &QMenu::aboutToShow, this, [this] { layouts_->fill_menu(layout_menu_); });
  window->insertMenu(commands_.find(QStringLiteral("reset_layout")), layout_menu_);
}

}  // namespace stagewright::gui
