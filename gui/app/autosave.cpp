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
// What was recovered has other names: what is copied from now on leaves it alone.
constexpr const char* kRecovered = "recovered.plan.json";
constexpr const char* kRecoveredSchedule = "recovered.schedule.json";
constexpr const char* kDamaged = "damaged.plan.json";

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
  if (!editor.draft()->order) {
    QFile::remove(path(kSchedule));
  }
  if (saved && editor.draft()->order) {
    saved = editor.save_schedule(path(kSchedule).toStdString());
  }
  if (!saved) {
    window_->message()->show_error(tr("Changes cannot be kept for a crash: %1")
                                       .arg(QString::fromStdString(saved.error().to_string())));
    timer_.stop();  // once is enough
  }
}

void Autosave::set_aside(const char* name, const char* other) {
  QFile::remove(path(other));
  QFile::rename(path(name), path(other));
}

bool Autosave::recover(const QString& asked) {
  if (!lock_ || !QFile::exists(path(kPlan))) {
    return false;
  }
  set_aside(kPlan, kRecovered);
  const bool moved = QFile::exists(path(kSchedule));
  if (moved) {
    set_aside(kSchedule, kRecoveredSchedule);
  }
  window_->open(path(kRecovered));
  auto* const reading = new QObject(this);  // ends what waits for it
  const auto problem = std::make_shared<QString>();
  connect(window_->document(), &Document::failed, reading, [problem](const QString& why) {
    *problem = why;
  });
  connect(window_->document(), &Document::idle, reading, [this, reading, moved, problem, asked] {
    reading->deleteLater();
    disconnect(window_->document(), nullptr, reading, nullptr);
    take_recovered(moved, *problem, asked);
  });
  return true;
}

void Autosave::take_recovered(bool moved, const QString& problem, const QString& asked) {
  const OpenedFile* const file = window_->document()->file();
  QStringList message;
  if (file != nullptr && file->path == path(kRecovered).toStdString() &&
      window_->edit()->editor()->draft() != nullptr) {
    window_->edit()->editor()->note_unsaved();
    save();  // for when the program ends again before it is half a minute old
    message << (moved ? tr("The program ended before changes were saved. They are open again, but "
                           "for actions that were moved by hand. Save the plan to keep it.")
                      : tr("The program ended before changes were saved. They are open again; save "
                           "the plan to keep them."));
  } else if (problem.isEmpty()) {
    message
        << tr("The program ended before changes were saved. They are in %1.").arg(path(kRecovered));
  } else {
    set_aside(kRecovered, kDamaged);
    message << tr("The program ended before changes were saved, and its copy of them cannot be "
                  "read; it is kept as %1. %2")
                   .arg(path(kDamaged), problem);
  }
  if (moved) {
    message << tr("The moved actions are in %1.").arg(path(kRecoveredSchedule));
  }
  if (!asked.isEmpty()) {
    message << tr("Not opened: %1.").arg(asked);
  }
  window_->message()->show_error(message.join(QLatin1Char(' ')));
}

void Autosave::forget() {
  if (lock_) {
    QFile::remove(path(kPlan));
    QFile::remove(path(kSchedule));
  }
}

}  // namespace stagewright::gui
