#include "gui/app/edit_commands.h"

#include <utility>

#include <QtCore/QFileInfo>
#include <QtGui/QAction>
#include <QtWidgets/QDockWidget>
#include <QtWidgets/QMessageBox>

#include "gui/app/main_window.h"
#include "gui/app/save_dialog.h"
#include "gui/models/plan_editor.h"
#include "gui/widgets/message_bar.h"
#include "gui/widgets/plan_controls.h"
#include "gui/widgets/stage_balance.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace stagewright::gui {

EditCommands::EditCommands(MainWindow* window)
    : QObject(window), window_(window), editor_(new PlanEditor(window->document(), this)) {
  add_docks();
  add_commands();
  connect(window_->timeline(), &TimelineView::move_asked, this, &EditCommands::move_onto);
  connect(editor_, &PlanEditor::refused, window_->message(), &MessageBar::show_error);
  connect(editor_, &PlanEditor::changed, this, [this] {
    window_->setWindowModified(editor_->has_unsaved());
  });
}

QStringList EditCommands::ids() {
  return QStringLiteral("undo redo - move_earlier move_later - save_schedule save_plan")
      .split(QLatin1Char(' '));
}

void EditCommands::add_docks() {
  controls_ = new PlanControls(editor_, window_);
  balance_ = new StageBalance(window_->document(), editor_, window_);
  window_->add_dock(QStringLiteral("dock_plan"), tr("Plan"), controls_, Qt::LeftDockWidgetArea)
      ->hide();
  window_->add_dock(QStringLiteral("dock_stages"), tr("Stages"), balance_, Qt::LeftDockWidgetArea)
      ->hide();
}

void EditCommands::add_commands() {
  CommandSet& commands = window_->commands();
  QUndoStack* const stack = editor_->undo_stack();
  QAction* const undo = commands.add(
      {QStringLiteral("undo"), tr("&Undo the change of the plan"), {QKeySequence::Undo}, [stack] {
         stack->undo();
       }});
  QAction* const redo = commands.add(
      {QStringLiteral("redo"), tr("&Redo the change of the plan"), {QKeySequence::Redo}, [stack] {
         stack->redo();
       }});
  undo->setEnabled(false);
  redo->setEnabled(false);
  connect(stack, &QUndoStack::canUndoChanged, undo, &QAction::setEnabled);
  connect(stack, &QUndoStack::canRedoChanged, redo, &QAction::setEnabled);
  TimelineView* const view = window_->timeline();
  commands.add({QStringLiteral("move_earlier"),
                tr("Move the action &earlier in its rank"),
                {QKeySequence(QStringLiteral("Alt+Shift+Left"))},
                [this] { move_selected(-1); }},
               view);
  commands.add({QStringLiteral("move_later"),
                tr("Move the action &later in its rank"),
                {QKeySequence(QStringLiteral("Alt+Shift+Right"))},
                [this] { move_selected(1); }},
               view);
  commands.add(
      {QStringLiteral("save_schedule"), tr("&Save the schedule..."), {QKeySequence::Save}, [this] {
         save(true);
       }});
  commands.add({QStringLiteral("save_plan"),
                tr("Save the &plan..."),
                {QKeySequence(QStringLiteral("Ctrl+Shift+S"))},
                [this] { save(false); }});
}

void EditCommands::move_selected(int by) {
  const auto action = window_->selection()->action();
  const OpenedFile* const file = window_->document()->file();
  if (!action || file == nullptr || !file->schedule) {
    return;
  }
  const ActionStore& store = *window_->document()->actions();
  const RankId rank = store.lanes[store.lane_of(*action)].rank;
  const QString name = QString::fromStdString(short_name(store, *action));
  editor_->change(by < 0 ? tr("Move %1 earlier").arg(name) : tr("Move %1 later").arg(name),
                  [file, rank, place = store.place[*action], by](PlanDraft draft) {
                    return move_action_by(std::move(draft), *file->schedule, rank, place, by);
                  });
}

void EditCommands::move_onto(std::size_t action, std::size_t onto) {
  const OpenedFile* const file = window_->document()->file();
  if (file == nullptr || !file->schedule) {
    window_->message()->show_error(tr("Only actions of a plan can be moved; open one."));
    return;
  }
  const ActionStore& store = *window_->document()->actions();
  const RankId rank = store.lanes[store.lane_of(action)].rank;
  const QString name = QString::fromStdString(short_name(store, action));
  editor_->change(
      tr("Move %1").arg(name),
      [file, rank, from = store.place[action], to = store.place[onto]](PlanDraft draft) {
        return move_action_to(std::move(draft), *file->schedule, rank, from, to);
      });
}

bool EditCommands::save(bool schedule) {
  const OpenedFile* const file = window_->document()->file();
  QString name = file == nullptr ? QString() : QString::fromStdString(file->path);
  name = name.startsWith(QLatin1Char(':')) ? QFileInfo(name).fileName() : QString();
  const auto place =
      schedule
          ? ask_where_to_save(window_,
                              tr("Save the schedule"),
                              {},
                              {{tr("Schedules"), QStringLiteral(".schedule.json")}})
          : ask_where_to_save(
                window_, tr("Save the plan"), name, {{tr("Plans"), QStringLiteral(".plan.json")}});
  if (!place) {
    return false;
  }
  const std::string path = place->path.toStdString();
  const Result<void> saved = schedule ? editor_->save_schedule(path) : editor_->save_plan(path);
  if (!saved) {
    window_->message()->show_error(QString::fromStdString(saved.error().to_string()));
    return false;
  }
  window_->note_written(place->path);
  const bool whole = schedule || !editor_->draft() || !editor_->draft()->order;
  if (whole) {
    editor_->note_saved();
  }
  return whole;
}

bool EditCommands::may_leave() {
  if (!editor_->has_unsaved()) {
    return true;
  }
  const bool moved = editor_->draft()->order.has_value();
  QMessageBox box(QMessageBox::Warning,
                  tr("Changes that are in no file"),
                  tr("The plan was changed, and the changes are in no file."),
                  QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel,
                  window_);
  box.setObjectName(QStringLiteral("ask_to_save"));
  box.setInformativeText(moved ? tr("Actions were moved by hand: a schedule file keeps them.")
                               : tr("A plan file keeps them."));
  box.setDefaultButton(QMessageBox::Save);
  switch (box.exec()) {
    case QMessageBox::Save:
      return save(moved);
    case QMessageBox::Discard:
      return true;
    default:
      return false;
  }
}

}  // namespace stagewright::gui
