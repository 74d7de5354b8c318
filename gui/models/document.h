#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <QtCore/QObject>
#include <QtCore/QString>
#include <QtCore/QThreadPool>

#include "core/base/result.h"
#include "gui/models/compared_steps.h"
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
  [[nodiscard]] const std::string& profiles() const { return profiles_; }

  /// Starts reading; a file that is still being read is given up.
  void open(const QString& path);
  /// Lowers and simulates a plan that is no file, as one that a search found, and shows it under
  /// that name; otherwise like open().
  void simulate(PlanInputs inputs, const QString& name);
  [[nodiscard]] Result<void> simulate_now(PlanInputs inputs, const QString& name);
  /// Shows what was made elsewhere.
  void show(OpenedFile file);
  /// Shows an edited version of the plan that is open: views stay where they are.
  void revise(OpenedFile file);
  /// Reads a file that is written again and again, as another version of what is open.
  void reload(const QString& path);
  /// While changed() is emitted: whether what was shown before was a version of the same plan.
  [[nodiscard]] bool shows_revision() const { return revising_; }
  /// Gives up what is being read.
  void cancel();
  void close();
  /// Lays out another optimizer step of the trace.  REQUIRES: a file, and 0 <= step < its steps.
  void show_step(std::int32_t step);
  /// Sets another file beside the one that is open, which then is the first of the two; fails where
  /// one has times and the other units of work.  REQUIRES: a file.
  void compare_with(const QString& path);
  [[nodiscard]] Result<void> compare_now(const std::string& path);
  void set_alignment(Alignment alignment);
  void stop_comparing();

  /// Reads and analyses at once, for programs without an event loop.
  [[nodiscard]] Result<void> open_now(const std::string& path);
  /// Analyses the shown step at once, if that has not happened.
  void analyse_now();

  [[nodiscard]] bool is_busy() const { return busy_; }
  [[nodiscard]] const OpenedFile* file() const { return file_.get(); }
  [[nodiscard]] std::shared_ptr<const OpenedFile> shared_file() const { return file_; }
  /// Null without a file, as the next.
  [[nodiscard]] std::shared_ptr<const ShownStep> step() const { return step_; }
  /// While two are compared, those of both.
  [[nodiscard]] std::shared_ptr<const ActionStore> actions() const;
  /// Null while nothing is compared.
  [[nodiscard]] std::shared_ptr<const ComparedSteps> comparison() const { return compared_; }
  [[nodiscard]] const OpenedFile* other_file() const { return other_.get(); }
  [[nodiscard]] Alignment alignment() const { return alignment_; }
  /// Null until it is done, and while two files are compared.
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
  using Make = std::function<Result<OpenedFile>(const OpenOptions& options)>;
  using Take = std::function<void(OpenedFile)>;
  /// What is left to do on this thread.
  using Finish = std::function<void()>;
  using Work = std::function<Result<Finish>(const OpenOptions& options)>;
  /// Two steps side by side.
  struct Comparison {
    std::shared_ptr<const OpenedFile> other;
    std::shared_ptr<const ShownStep> step;
    Alignment alignment = Alignment::kStart;
    std::shared_ptr<const ComparedSteps> compared;
  };
  void read(const QString& path, Take take);
  /// Does `work` on a thread, and here, unless that was given up, what it left to do.
  void work(const QString& what, Work work);
  [[nodiscard]] Make simulation_of(PlanInputs inputs, const QString& name) const;
  void take(OpenedFile file);
  [[nodiscard]] static Comparison compare(std::shared_ptr<const OpenedFile> other,
                                          std::shared_ptr<const ShownStep> step,
                                          Alignment alignment);
  /// Compares anew what is compared, on a thread.
  void compare_again();
  void take_comparison(Comparison comparison);
  void take_step(std::shared_ptr<const ShownStep> step);
  void analyse();
  void give_up_analysis();

  std::string profiles_;
  std::shared_ptr<Job> reading_;
  std::shared_ptr<Job> analysing_;
  std::shared_ptr<const OpenedFile> file_;
  std::shared_ptr<const ShownStep> step_;
  std::shared_ptr<const StepAnalysis> analysis_;
  std::shared_ptr<const OpenedFile> other_;
  std::shared_ptr<const ComparedSteps> compared_;
  Alignment alignment_ = Alignment::kStart;
  bool busy_ = false;
  bool revising_ = false;
  QThreadPool threads_;  ///< ends first: its work speaks of the members above
};

}  // namespace stagewright::gui
