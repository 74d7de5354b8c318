#pragma once

#include <optional>
#include <string>
#include <vector>

#include <QtCore/QFileSystemWatcher>
#include <QtCore/QObject>
#include <QtCore/QProcess>
#include <QtCore/QString>
#include <QtCore/QTimer>

#include "core/base/result.h"
#include "gui/models/opened_file.h"

namespace stagewright::gui {

/// What a step of a run says of itself.
struct StepMetrics {
  int step = 0;  ///< from 0
  std::optional<double> loss;
  std::optional<double> gradient_norm;
  double seconds = 0;
  double tokens_per_second = 0;
  friend bool operator==(const StepMetrics&, const StepMetrics&) = default;
};
/// A line of `stagewright run --metrics`; nothing where it is none.
[[nodiscard]] std::optional<StepMetrics> parse_metrics_line(const QByteArray& line);

struct RunSetup {
  QString program;  ///< the command `stagewright`
  QString data;     ///< text file, folder or tokens; empty: a text that comes with the program
  int steps = 10;
  bool virtual_clock = false;  ///< times as if every rank had a core of its own
};

/// Trains by the plan that is open, in a child process whose ranks are threads of this machine.
class RunProcess : public QObject {
  Q_OBJECT

 public:
  explicit RunProcess(QObject* parent = nullptr);
  ~RunProcess() override;
  RunProcess(const RunProcess&) = delete;
  RunProcess& operator=(const RunProcess&) = delete;
  RunProcess(RunProcess&&) = delete;
  RunProcess& operator=(RunProcess&&) = delete;

  /// Runs exactly the schedule of the file.  Fails where it has none or files cannot be written;
  /// what goes wrong later comes as failed().  REQUIRES: nothing runs.
  [[nodiscard]] Result<void> start(const OpenedFile& file, const RunSetup& setup);
  /// Ends it after the step that is running; a second call, or some seconds, at once.
  void stop();
  [[nodiscard]] bool is_running() const { return process_.state() != QProcess::NotRunning; }
  [[nodiscard]] const std::vector<StepMetrics>& steps() const { return steps_; }
  /// Of the last run, in runs_folder(); stays when the program ends.  Empty before one.
  [[nodiscard]] QString trace_path() const;
  /// Of the schedule that the last run executes; empty before one.
  [[nodiscard]] const std::string& schedule_hash() const { return schedule_hash_; }
  /// Of a step that has ended, while the run goes on.
  [[nodiscard]] QString live_trace_path() const;

 signals:
  void started();
  void step_done();
  /// live_trace_path() is another step's.
  void live_trace_written();
  /// It is over and has left a trace.
  void finished();
  void failed(const QString& why);

 private:
  void read_output();
  void take_end(int code, QProcess::ExitStatus status);
  void look_for_live_trace();

  QProcess process_;
  QTimer patience_;
  QString folder_;              ///< of the last run; empty before one
  QString trace_name_;          ///< in it
  QFileSystemWatcher watcher_;  ///< of the folder
  qint64 live_trace_time_ = 0;  ///< when what was last told of was written
  std::vector<StepMetrics> steps_;
  std::string schedule_hash_;
};

/// The command beside this program or in the search path; empty where there is none.
[[nodiscard]] QString find_command();

}  // namespace stagewright::gui
