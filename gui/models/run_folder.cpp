#include "gui/models/run_folder.h"

#include <QtCore/QDateTime>
#include <QtCore/QDir>
#include <QtCore/QFileInfo>
#include <QtCore/QStandardPaths>
#include <QtCore/QTemporaryDir>

namespace stagewright::gui {

QString runs_folder() {
  return QDir(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation))
      .filePath(QStringLiteral("runs"));
}

QString make_run_folder() {
  const QDir runs(runs_folder());
  if (!runs.mkpath(QStringLiteral("."))) {
    return {};
  }
  // Names sort by time; what is added keeps runs apart that begin in one second.
  const QString stamp =
      QDateTime::currentDateTime().toString(QStringLiteral("yyyy-MM-dd-hhmmss-zzz"));
  QTemporaryDir folder(runs.filePath(stamp + QStringLiteral("-XXXXXX")));
  if (!folder.isValid()) {
    return {};
  }
  folder.setAutoRemove(false);
  const QStringList kept = runs.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name);
  for (qsizetype i = 0; i + kKeptRuns < kept.size(); ++i) {
    QDir(runs.filePath(kept[i])).removeRecursively();
  }
  return folder.path();
}

QString run_trace_name(const QString& plan_path) {
  QString name = QFileInfo(plan_path).fileName();
  for (const char* const suffix : {".json", ".plan"}) {
    if (name.endsWith(QLatin1String(suffix))) {
      name.chop(QLatin1String(suffix).size());
    }
  }
  name.remove(QLatin1Char('/'));
  return QStringLiteral("run of %1.swtrace").arg(name.isEmpty() ? QStringLiteral("a plan") : name);
}

}  // namespace stagewright::gui
