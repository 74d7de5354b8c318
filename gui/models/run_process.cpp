#include "gui/models/run_process.h"

#include <QtCore/QCoreApplication>
#include <QtCore/QDateTime>
#include <QtCore/QDir>
#include <QtCore/QFile>
#include <QtCore/QFileInfo>
#include <QtCore/QStandardPaths>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/plan/plan.h"
#include "core/schedule/schedule.h"
#include "gui/models/run_folder.h"

namespace stagewright::gui {
namespace {

constexpr int kPatienceMilliseconds = 10'000;
constexpr const char* kSample = ":/sample/schedules_for_students.md";

std::optional<double> number(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? std::optional(found->get<double>())
                                                   : std::nullopt;
}

bool runs_here(const Cluster& cluster) {
  for (const DeviceType& type : cluster.types) {
    if (type.name != "cpu") {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<StepMetrics> parse_metrics_line(const QByteArray& line) {
  const auto json = nlohmann::json::parse(line.toStdString(), nullptr, false);
  const auto step = json.is_object() ? number(json, "step") : std::nullopt;
  const auto seconds = json.is_object() ? number(json, "step_time_s") : std::nullopt;
  if (!step || !seconds) {
    return std::nullopt;
  }
  return StepMetrics{.step = static_cast<int>(*step),
                     .loss = number(json, "loss"),
                     .gradient_norm = number(json, "gradient_norm"),
                     .seconds = *seconds,
                     .tokens_per_second = number(json, "tokens_per_s").value_or(0)};
}

QString find_command() {
  const QDir here(QCoreApplication::applicationDirPath());
  const QString name = QStringLiteral("stagewright");
  // Installed they lie side by side, in a build folder in those of their rooms.
  for (const QString& place : {name, QStringLiteral("../../cli/") + name}) {
    const QFileInfo file(here.filePath(place));
    if (file.isFile() && file.isExecutable()) {
      return file.canonicalFilePath();
    }
  }
  return QStandardPaths::findExecutable(name);
}

RunProcess::RunProcess(QObject* parent) : QObject(parent) {
  patience_.setSingleShot(true);
  patience_.setInterval(kPatienceMilliseconds);
  connect(&patience_, &QTimer::timeout, &process_, &QProcess::kill);
  connect(&process_, &QProcess::readyReadStandardOutput, this, &RunProcess::read_output);
  connect(&process_, &QProcess::finished, this, &RunProcess::take_end);
  connect(&watcher_, &QFileSystemWatcher::directoryChanged, this, &RunProcess::look_for_live_trace);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) {
      emit failed(
          tr("%1 could not be started: %2").arg(process_.program(), process_.errorString()));
    }
  });
}

RunProcess::~RunProcess() {
  disconnect(&process_, nullptr, this, nullptr);
  process_.kill();
  process_.waitForFinished();
}

QString RunProcess::trace_path() const {
  return folder_.isEmpty() ? QString() : QDir(folder_).filePath(trace_name_);
}

QString RunProcess::live_trace_path() const {
  return folder_.isEmpty() ? QString() : QDir(folder_).filePath(QStringLiteral("live.swtrace"));
}

void RunProcess::look_for_live_trace() {
  const QFileInfo file(live_trace_path());
  const qint64 written = file.exists() ? file.lastModified().toMSecsSinceEpoch() : 0;
  if (written > live_trace_time_) {
    live_trace_time_ = written;
    emit live_trace_written();
  }
}

Result<void> RunProcess::start(const OpenedFile& file, const RunSetup& setup) {
  if (!file.plan || !file.schedule) {
    return fail(ErrorCode::kInvalidInput, "only a plan can be run; open one");
  }
  const QString folder = make_run_folder();
  if (folder.isEmpty()) {
    return fail(ErrorCode::kIo,
                "is not writable; a run leaves its plan, schedule and trace there",
                runs_folder().toStdString());
  }
  folder_ = folder;
  trace_name_ = run_trace_name(QString::fromStdString(file.path));
  const QString plan = QDir(folder_).filePath(QStringLiteral("run.plan.json"));
  const QString schedule = QDir(folder_).filePath(QStringLiteral("run.schedule.json"));
  if (auto written = write_file(plan.toStdString(), to_json_text(file.plan->plan)); !written) {
    return written;
  }
  if (auto written = write_file(schedule.toStdString(), to_json_text(*file.schedule)); !written) {
    return written;
  }
  QString data = setup.data;
  if (data.isEmpty()) {
    data = QDir(folder_).filePath(QStringLiteral("sample.md"));
    if (!QFile::copy(QString::fromLatin1(kSample), data)) {
      return fail(ErrorCode::kIo, "could not be written", data.toStdString());
    }
  }
  QStringList arguments{QStringLiteral("run"),
                        plan,
                        QStringLiteral("--schedule"),
                        schedule,
                        QStringLiteral("--data"),
                        data,
                        QStringLiteral("--steps"),
                        QString::number(setup.steps),
                        QStringLiteral("--trace"),
                        trace_path(),
                        QStringLiteral("--live-trace"),
                        live_trace_path(),
                        QStringLiteral("--metrics"),
                        QStringLiteral("-")};
  if (setup.virtual_clock) {
    arguments << QStringLiteral("--clock") << QStringLiteral("virtual");
  }
  if (!runs_here(file.plan->cluster)) {
    arguments << QStringLiteral("--cluster")
              << QStringLiteral("1x%1xcpu").arg(file.plan->plan.devices());
  }
  steps_.clear();
  schedule_hash_ = stagewright::schedule_hash(*file.schedule);
  live_trace_time_ = 0;
  watcher_.addPath(folder_);
  process_.start(setup.program, arguments);
  emit started();
  return {};
}

void RunProcess::stop() {
  if (!is_running()) {
    return;
  }
  if (patience_.isActive()) {
    process_.kill();
    return;
  }
  process_.terminate();
  patience_.start();
}

void RunProcess::read_output() {
  while (process_.canReadLine()) {
    if (const auto metrics = parse_metrics_line(process_.readLine())) {
      steps_.push_back(*metrics);
      emit step_done();
    }
  }
}

void RunProcess::take_end(int code, QProcess::ExitStatus status) {
  patience_.stop();
  watcher_.removePath(folder_);
  QFile::remove(live_trace_path());
  read_output();
  if (QFileInfo::exists(trace_path())) {  // also where it was stopped early
    emit finished();
    return;
  }
  const QString said = QString::fromUtf8(process_.readAllStandardError()).trimmed();
  emit failed(!said.isEmpty() ? said
              : status == QProcess::CrashExit
                  ? tr("The run was ended before it left a trace.")
                  : tr("The run ended with code %1 and left no trace.").arg(code));
}

}  // namespace stagewright::gui
