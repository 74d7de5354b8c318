#include "gui/models/plan_search.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include <QtCore/QThread>

#include "core/base/version.h"
#include "formats/model_file.h"
#include "gui/models/memory_guard.h"

namespace stagewright::gui {

/// What the threads of a search hand over.
struct PlanSearch::Job {
  std::atomic<bool> stop = false;
  std::atomic<bool> told = false;  ///< a call is on its way that takes what is here
  std::mutex mutex;
  std::vector<Candidate> found;
  SearchProgress progress;
};

namespace {

/// The dimensions that a plan shows without its point.
PlanPoint point_of(const Plan& plan) {
  PlanPoint point;
  point.tp = plan.uniform_tp().value_or(0);
  point.dp = plan.uniform_dp().value_or(0);
  point.pp = plan.pp();
  point.cp = plan.cp;
  point.ep = plan.ep;
  point.micro_batch_size = plan.micro_batch_size;
  point.micro_batches = plan.micro_batches;
  point.virtual_stages = plan.virtual_stages;
  point.zero = plan.zero_stage;
  return point;
}

std::vector<CandidateRow> rows_of(std::vector<Candidate> candidates, CandidateState state) {
  std::vector<CandidateRow> rows;
  rows.reserve(candidates.size());
  for (Candidate& candidate : candidates) {
    rows.push_back({.state = state, .candidate = std::move(candidate), .reason = {}});
  }
  return rows;
}

std::vector<CandidateRow> rows_of(const std::vector<Rejection>& rejections) {
  std::vector<CandidateRow> rows;
  rows.reserve(rejections.size());
  for (const Rejection& rejection : rejections) {
    CandidateRow row{
        .state = CandidateState::kRejected, .candidate = {}, .reason = rejection.reason};
    row.candidate.plan = rejection.plan;
    row.candidate.point = point_of(rejection.plan);
    row.candidate.simulated = false;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

PlanSearch::PlanSearch(QObject* parent) : QObject(parent) {
  threads_.setMaxThreadCount(2);  // one that ends, one that begins
}

PlanSearch::~PlanSearch() {
  cancel();
  threads_.waitForDone();
}

Result<DataFiles> PlanSearch::files() const {
  return profiles_.empty() ? Result<DataFiles>(DataFiles::embedded())
                           : DataFiles::with_overrides(profiles_);
}

Result<SearchResult> PlanSearch::run(const Result<DataFiles>& files,
                                     const PlanSetup& setup,
                                     const SearchControl& control) {
  if (!files) {
    return tl::unexpected<Error>(files.error());
  }
  auto job = job_of(*files, setup);
  if (!job) {
    return pass_on(std::move(job));
  }
  // One core is left to the window.
  job->threads = std::max(1, QThread::idealThreadCount() - 1);
  return within_memory(
      "the search", "fix more of the plan", [&] { return plan_job(*job, *files, control); });
}

std::shared_ptr<PlanSearch::Job> PlanSearch::begin(const PlanSetup& setup) {
  cancel();
  setup_ = setup;
  const auto data = files();
  const auto cluster = data ? cluster_of(*data, setup.cluster) : Result<Cluster>(Cluster{});
  device_memory_ = cluster && !cluster->types.empty() ? cluster->types.front().memory : Bytes{};
  choose(-1);
  candidates_.clear();
  error_.clear();
  result_.reset();
  progress_ = {};
  state_ = State::kRunning;
  job_ = std::make_shared<Job>();
  emit changed();
  return job_;
}

void PlanSearch::start(const PlanSetup& setup) {
  const auto job = begin(setup);
  SearchControl control;
  control.stop = &job->stop;
  control.on_progress = [this, job](const SearchProgress& progress) {
    const std::lock_guard lock(job->mutex);
    job->progress = progress;
    tell(job);
  };
  control.on_candidate = [this, job](const Candidate& candidate) {
    const std::lock_guard lock(job->mutex);
    job->found.push_back(candidate);
    tell(job);
  };
  threads_.start([this, job, control, setup, data = files()] {
    auto result = std::make_shared<Result<SearchResult>>(run(data, setup, control));
    QMetaObject::invokeMethod(this, [this, job, result] {
      if (job == job_) {
        take_result(*job, *std::move(result));
      }
    });
  });
}

void PlanSearch::search_now(const PlanSetup& setup) {
  const auto job = begin(setup);
  SearchControl control;
  control.on_candidate = [&](const Candidate& candidate) { job->found.push_back(candidate); };
  take_result(*job, run(files(), setup, control));
}

/// Called with the job's mutex held.
void PlanSearch::tell(const std::shared_ptr<Job>& job) {
  if (job->told.exchange(true)) {
    return;
  }
  QMetaObject::invokeMethod(
      this,
      [this, job] {
        job->told = false;
        if (job == job_ && state_ == State::kRunning) {
          take_found(*job);
          emit changed();
        }
      },
      Qt::QueuedConnection);
}

void PlanSearch::take_found(Job& job) {
  std::vector<Candidate> found;
  {
    const std::lock_guard lock(job.mutex);
    found.swap(job.found);
    progress_ = job.progress;
  }
  candidates_.add(rows_of(std::move(found), CandidateState::kSimulated));
}

void PlanSearch::take_result(Job& job, Result<SearchResult> result) {
  take_found(job);
  job_.reset();
  if (!result) {
    if (state_ == State::kRunning) {
      state_ = State::kFailed;
      error_ = QString::fromStdString(result.error().to_string());
    }
    emit changed();
    return;
  }
  candidates_.judge(result->plans);
  candidates_.add(rows_of(std::move(result->estimated), CandidateState::kEstimated));
  candidates_.add(rows_of(result->rejected));
  if (state_ == State::kRunning) {
    state_ = result->interrupted ? State::kStopped : State::kDone;
  }
  result_ = *std::move(result);
  if (chosen_ < 0) {
    choose(candidates_.best());
  }
  emit changed();
}

void PlanSearch::cancel() {
  if (state_ != State::kRunning) {
    return;
  }
  job_->stop = true;
  take_found(*job_);
  state_ = State::kStopped;
  if (chosen_ < 0) {
    choose(candidates_.best());
  }
  emit changed();
}

bool PlanSearch::threads_ended() {
  return threads_.waitForDone(0);
}

void PlanSearch::choose(int row) {
  if (row != chosen_ && row < candidates_.rowCount({})) {
    chosen_ = row;
    emit chosen_changed();
  }
}

Result<PlanInputs> PlanSearch::inputs_of(int row) const {
  const auto data = files();
  if (!data) {
    return tl::unexpected<Error>(data.error());
  }
  auto model = find_model(*data, setup_.model);
  if (!model) {
    return pass_on(std::move(model));
  }
  auto cluster = cluster_of(*data, setup_.cluster);
  if (!cluster) {
    return pass_on(std::move(cluster));
  }
  PlanInputs inputs{.plan = candidates_.rows().at(static_cast<std::size_t>(row)).candidate.plan,
                    .model = *std::move(model),
                    .cluster = *std::move(cluster)};
  inputs.plan.model = setup_.model;
  inputs.plan.cluster = cluster_name(setup_.cluster);
  if (setup_.cluster.has_other_links()) {
    inputs.plan.cluster += " with other links";
  }
  inputs.plan.made_by = {{"program", "stagewright " + std::string(version())},
                         {"command", command_line(setup_)}};
  return inputs;
}

}  // namespace stagewright::gui
