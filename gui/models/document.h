#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include <QtCore/QObject>
#include <QtCore/QString>
#include <QtCore/QThreadPool>

#include "core/base/result.h"
#include "gui/models/opened_file.h"
#include "gui/models/step_analysis.h"

namespace stagewright::gui {

/// The file that is open and what is known of it.  Files are read and analysed on other threads;
/// all signals come on the thread of the document, and what was open stays until the new file is
/// complete.  What it hands out never changes, so that workers may hold on to it.
class Document : public QObject {
  Q_OBJECT

 public:
  explicit Document(QObject* parent = nullptr);
  ~Document() override;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  Document(Document&&) = delete;
  Document& operator=(Document&&) = delete;

  /// Folder over the embedded data; empty: none.
  void set_profiles(std::string folder) { profiles_ = std::move(folder); }

  /// Starts reading; a file that is still being read is given up.
  void open(const QString& path);
  /// Shows what was made elsewhere, as a plan that a search found.
  void show(OpenedFile file);
  /// Gives up what is being read.
  void cancel();
  void close();
  /// Another optimizer step of the trace.  REQUIRES: a file, and 0 <= step < its steps.
  void show_step(std::int32_t step);
  /// Reads and analyses at once, for programs without an event loop.
  [[nodiscard]] Result<void> open_now(const std::string& path);
  /// Analyses the shown step at once, if that has not happened.
  void analyse_now();

  [[nodiscard]] bool is_busy() const { return busy_; }
  [[nodiscard]] const OpenedFile* file() const { return file_.get(); }
  /// Null without a file, as the next.
  [[nodiscard]] std::shared_ptr<const ShownStep> step() const { return step_; }
  [[nodiscard]] std::shared_ptr<const ActionStore> actions() const;
  [[nodiscard]] std::shared_ptr<const StepAnalysis> analysis() const { return analysis_; }

 signals:
  void working(const QString& what);
  /// Nothing is read any more, whether it worked or not.
  void idle();
  void failed(const QString& message);
  /// Another file, another step of it, or none.
  void changed();
  void analysed();

 private:
  /// Told by the thread that made it who it works for.
  struct Job {
    std::atomic<bool> given_up = false;
  };
  [[nodiscard]] OpenOptions options_for(const std::shared_ptr<Job>& job);
  void take(std::shared_ptr<const OpenedFile> file);
  void analyse();

  std::string profiles_;
  std::shared_ptr<Job> reading_;
  std::shared_ptr<Job> analysing_;
  std::shared_ptr<const OpenedFile> file_;
  std::shared_ptr<const ShownStep> step_;
  std::shared_ptr<const StepAnalysis> analysis_;
  bool busy_ = false;
  QThreadPool threads_;  ///< ends first: its work speaks of the members above
};

}  // namespace stagewright::gui
