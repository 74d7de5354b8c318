#include "gui/app/autosave.h"

#include <QtCore/QDir>
#include <QtCore/QFile>
#include <QtCore/QStandardPaths>

#include "gui/app/edit_commands.h"
#include "gui/app/main_window.h"
#include "gui/models/plan_editor.h"
#include "gui/widgets/message_bar.h"

namespace stagewright::gui {
namespace {

constexpr int kMilliseconds = 30'000;
constexpr const char* kPlan = "autosave.plan.json";
constexpr const char* kSchedule = "autosave.schedule.json";
constexpr const char* kRecovered = "recovered.plan.json";

}  // namespace

QString Autosave::path(const char* name) {
  const QDir folder(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation));
  return folder.filePath(QString::fromLatin1(name));
}

Autosave::Autosave(MainWindow* window) : QObject(window), window_(window) {
  QDir().mkpath(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation));
  lock_ = std::make_unique<QLockFile>(path("autosave.lock"));
  lock_->setStaleLockTime(0);  // stale when its program has ended
  if (!lock_->tryLock(0)) {
    lock_.reset();
    return;
  }
  connect(&timer_, &QTimer::timeout, this, &Autosave::save);
  timer_.start(kMilliseconds);
}

void Autosave::save() {
  if (!lock_) {
    return;
  }
  PlanEditor& editor = *window_->edit()->editor();
  if (!editor.has_unsaved()) {
    forget();
    return;
  }
  Result<void> saved = editor.save_plan(path(kPlan).toStdString());
  if (saved && editor.draft()->order) {
    saved = editor.save_schedule(path(kSchedule).toStdString());
  }
  if (!saved) {
    window_->message()->show_error(tr("Changes cannot be kept for a crash: %1")
                                       .arg(QString::fromStdString(saved.error().to_string())));
    timer_.stop();  // once is enough
  }
}

bool Autosave::recover() {
  if (!lock_ || !QFile::exists(path(kPlan))) {
    return false;
  }
  QFile::remove(path(kRecovered));
  QFile::rename(path(kPlan), path(kRecovered));
  connect(
      window_->document(),
      &Document::idle,
      this,
      [this] {
        window_->edit()->editor()->note_unsaved();
        window_->message()->show_error(
            QFile::exists(path(kSchedule))
                ? tr("The program ended before changes were saved. They are open again, but for "
                     "actions that were moved by hand: those are in %1. Save the plan to keep it.")
                      .arg(path(kSchedule))
                : tr("The program ended before changes were saved. They are open again; save the "
                     "plan to keep them."));
      },
      Qt::SingleShotConnection);
  window_->open(path(kRecovered));
  return true;
}

void Autosave::forget() {
  if (lock_) {
    QFile::remove(path(kPlan));
    QFile::remove(path(kSchedule));
  }
}

}  // namespace stagewright::gui
