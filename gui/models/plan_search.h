#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <QtCore/QObject>
#include <QtCore/QString>
#include <QtCore/QThreadPool>

#include "core/base/result.h"
#include "gui/models/candidates_model.h"
#include "gui/models/plan_setup.h"
#include "planner/search/search.h"
#include "study/plan_inputs.h"

namespace stagewright::gui {

/// Searches plans on other threads.  What is found appears at once; all signals come on the thread
/// of this object.  One plan is chosen: all views show the same.
class PlanSearch : public QObject {
  Q_OBJECT

 public:
  enum class State : std::uint8_t {
    kIdle,  ///< nothing was searched yet
    kRunning,
    kStopped,  ///< by the user: what was found until then stays
    kDone,
    kFailed,
  };

  explicit PlanSearch(QObject* parent = nullptr);
  ~PlanSearch() override;
  PlanSearch(const PlanSearch&) = delete;
  PlanSearch& operator=(const PlanSearch&) = delete;
  PlanSearch(PlanSearch&&) = delete;
  PlanSearch& operator=(PlanSearch&&) = delete;

  /// Folder over the embedded data; empty: none.
  void set_profiles(std::string folder) { profiles_ = std::move(folder); }
  [[nodiscard]] Result<DataFiles> files() const;

  /// A search that is under way is given up.
  void start(const PlanSetup& setup);
  /// The same, done before it returns, for programs without an event loop.
  void search_now(const PlanSetup& setup);
  /// Is over when it returns; the threads end on their own.
  void cancel();
  /// Whether no thread works any more.
  [[nodiscard]] bool threads_ended();

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const SearchProgress& progress() const { return progress_; }
  /// Of kFailed.
  [[nodiscard]] const QString& error() const { return error_; }
  /// Counts by what became of the points, once the search has ended.
  [[nodiscard]] const std::optional<SearchResult>& result() const { return result_; }
  [[nodiscard]] CandidatesModel* candidates() { return &candidates_; }
  /// What was searched.
  [[nodiscard]] const PlanSetup& setup() const { return setup_; }
  /// What a device of it holds at most; zero before the first search.
  [[nodiscard]] Bytes device_memory() const { return device_memory_; }

  /// A row of candidates(); -1: none.
  void choose(int row);
  [[nodiscard]] int chosen() const { return chosen_; }
  /// The plan of a row with its model and cluster, as a plan file would name them.
  [[nodiscard]] Result<PlanInputs> inputs_of(int row) const;

 signals:
  /// State, progress or what was found.
  void changed();
  void chosen_changed();

 private:
  struct Job;
  void tell(const std::shared_ptr<Job>& job);
  void take_found(Job& job);
  void take_result(Job& job, Result<SearchResult> result);
  [[nodiscard]] std::shared_ptr<Job> begin(const PlanSetup& setup);
  [[nodiscard]] static Result<SearchResult> run(const Result<DataFiles>& files,
                                                const PlanSetup& setup,
                                                const SearchControl& control);

  std::string profiles_;
  CandidatesModel candidates_;
  std::shared_ptr<Job> job_;
  State state_ = State::kIdle;
  PlanSetup setup_;
  Bytes device_memory_{};
  SearchProgress progress_;
  QString error_;
  std::optional<SearchResult> result_;
  int chosen_ = -1;
  QThreadPool threads_;  ///< ends first: its work speaks of the members above
};

}  // namespace stagewright::gui
