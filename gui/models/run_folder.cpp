#include "gui/models/run_folder.h"

#include <QtCore/QDateTime>
#include <QtCore/QDir>
#include <QtCore/QFileInfo>
#include <QtCore/QRegularExpression>
#include <QtCore/QStandardPaths>
#include <QtCore/QTemporaryDir>

namespace stagewright::gui {
namespace {

/// Beyond kKeptRuns, of the folders that this program has made: what a user renamed or put there
/// stays, and so does what a link leads to.  `newest` stays although a clock that was set back may
/// have given it the oldest name.
void remove_oldest(const QDir& runs, const QString& newest) {
  static const QRegularExpression made_here(
      QStringLiteral("^\\d{4}-\\d\\d-\\d\\d-\\d{6}-\\d{3}-\\w{6}$"));
  QStringList others =
      runs.entryList(QDir::Dirs | QDir::NoDotAndDotDot | QDir::NoSymLinks, QDir::Name)
          .filter(made_here);
  others.removeAll(newest);
  for (qsizetype i = 0; i + kKeptRuns - 1 < others.size(); ++i) {
    QDir(runs.filePath(others[i])).removeRecursively();
  }
}

}  // namespace

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
  remove_oldest(runs, QFileInfo(folder.path()).fileName());
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
  constexpr int kMostBytes = 200;  // of the 255 that names have
  while (name.toUtf8().size() > kMostBytes) {
    name.chop(1);
  }
  return QStringLiteral("run of %1.swtrace").arg(name.isEmpty() ? QStringLiteral("a plan") : name);
}

}  // namespace stagewright::gui
