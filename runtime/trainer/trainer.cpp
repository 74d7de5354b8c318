#include "runtime/trainer/trainer.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/schedule/semantics.h"
#include "runtime/backend_error.h"
#include "runtime/comm/in_process.h"
#include "runtime/compute/cpu_device.h"
#include "runtime/executor/host_values.h"
#include "runtime/executor/rank_executor.h"
#include "runtime/executor/schedule_world.h"
#include "runtime/trainer/live_steps.h"
#include "runtime/trainer/loss_scaler.h"
#include "runtime/trainer/measured_trace.h"
#include "runtime/trainer/rank_clocks.h"
#include "runtime/trainer/rank_result.h"
#include "runtime/trainer/replica_check.h"
#include "runtime/trainer/runnable.h"
#include "runtime/trainer/sampled_batches.h"
#include "runtime/trainer/synthetic_images.h"
#include "runtime/trainer/virtual_clock.h"

namespace stagewright {

namespace {

[[nodiscard]] std::int64_t tokens_per_step(const Schedule& schedule) {
  return std::int64_t{schedule.replicas} * schedule.micro_batches * schedule.micro_batch_size *
         schedule.sequence;
}

[[nodiscard]] bool is_finite(const StepTotals& totals) {
  return std::isfinite(totals.squared_norm) && std::isfinite(totals.loss);
}

/// Whether updates read the totals, so that they can be left out.
[[nodiscard]] bool can_skip(const Schedule& schedule) {
  return schedule.optimizer.clip_norm || needs_loss_scale(schedule);
}

[[nodiscard]] LossScaler::Options scaler_options(const Schedule& schedule) {
  LossScaler::Options options;
  options.scales = needs_loss_scale(schedule);
  if (!can_skip(schedule)) {
    options.patience = 1;  // the weights have changed already
  }
  return options;
}

/// One rank of a run, on its own thread.
class RankRun {
 public:
  RankRun(const Schedule& schedule,
          Endpoint& endpoint,
          const MicroBatchSource& source,
          const RunOptions& options,
          LiveSteps* live,
          bool alone)
      : schedule_(schedule),
        endpoint_(endpoint),
        source_(source),
        options_(options),
        live_(live),
        alone_(alone),
        scaler_(scaler_options(schedule)) {}

  void operator()() {
    try {
      train();
    } catch (const BackendError& failure) {
      give_up(failure.error());
    } catch (const std::exception& problem) {
      give_up({ErrorCode::kBackendFailed,
               problem.what(),
               fmt::format("rank {}", endpoint_.rank().value())});
    }
  }

  [[nodiscard]] const LossScaler& scaler() const { return scaler_; }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }
  [[nodiscard]] bool stopped() const { return stopped_; }
  /// The ranks that this one knows of: itself, or all of the run where it is alone in its process.
  [[nodiscard]] std::span<const RankResult> results() const { return results_; }
  [[nodiscard]] std::span<const RankPlan> plans() const { return plans_; }
  [[nodiscard]] std::span<const std::string> device_notes() const { return device_notes_; }

 private:
  void train() {
    const std::unique_ptr<ComputeDevice> device =
        options_.make_device ? options_.make_device(endpoint_.rank()) : make_cpu_device();
    HostValues values(endpoint_, *device);
    require_same_schedule(values, schedule_hash(schedule_));
    find_plans(*device);
    const RankPlan& plan = *plan_;
    RankExecutor executor(schedule_, plan, endpoint_, *device, options_.seed, options_.groups);
    const ClockOffset begin = alone_ ? measure_clock(values, endpoint_) : ClockOffset{};
    for (std::int32_t step = 0; step < options_.steps; ++step) {
      if (stop_wanted(values)) {
        stopped_ = true;
        break;
      }
      run_step(executor, step);
      if (const std::int32_t every = options_.check_replicas_every;
          every > 0 && (step + 1) % every == 0 && schedule_.ranks.size() > 1) {
        check_replicas(executor, values, step);
      }
    }
    results_.resize(1);
    RankResult& own = results_.front();
    own.steps = std::move(records_);
    own.totals = std::move(totals_);
    own.memory = executor.memory_peaks();
    device_notes_ = device->notes();
    own.lane_logs.assign(executor.lane_logs().begin(), executor.lane_logs().end());
    if (alone_) {
      onto_first_clock(own.steps, begin, measure_clock(values, endpoint_));
      results_ = gather_results(values, own);
    }
  }

  /// Of this rank, or of all where the others are elsewhere: what they send is told by their plans.
  void find_plans(const ComputeDevice& device) {
    const auto ranks = static_cast<std::int32_t>(schedule_.ranks.size());
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      if (!alone_ && RankId(rank) != endpoint_.rank()) {
        continue;
      }
      auto plan = runnable_rank(schedule_, RankId(rank), device);
      if (!plan) {
        throw BackendError(plan.error());
      }
      plans_.push_back(std::move(*plan));
    }
    plan_ = &plans_[alone_ ? endpoint_.rank().index() : 0];
  }

  /// Ranks agree on it, and so begin each step together.
  [[nodiscard]] bool stop_wanted(HostValues& values) const {
    return values.maximum(options_.stop != nullptr && options_.stop->load() ? 1 : 0) != 0;
  }

  void check_replicas(RankExecutor& executor, HostValues& values, std::int32_t step) {
    if (!replicas_) {
      replicas_.emplace(schedule_, executor);
    }
    if (auto error = replicas_->differing(executor, values)) {
      error->where = fmt::format("after step {}", step + 1);
      throw BackendError(*std::move(error));
    }
  }

  void run_step(RankExecutor& executor, std::int32_t step) {
    const bool traced =
        step >= options_.first_traced_step &&
        (!options_.traced_steps || step < options_.first_traced_step + *options_.traced_steps);
    const bool live = live_ != nullptr && live_->wants(step);
    StepRecord& record = records_.emplace_back();
    record.step = step;
    record.begin = endpoint_.clock().now();
    UpdateStep constants{.number = step + 1,
                         .skipped = scaler_.skipped(),
                         .loss_scale = scaler_.scale(),
                         .seed = options_.seed,
                         .optimizer = schedule_.optimizer};
    constants.optimizer.learning_rate *= rate_factor(options_.rate, constants.number);
    const auto totals = executor.step(constants, source_, traced || live ? &record : nullptr);
    record.end = endpoint_.clock().now();
    if (live) {
      live_->add(*plan_, record, totals);
      if (!traced) {
        record.times.clear();
        record.times.shrink_to_fit();
        record.memory.clear();
        record.memory.shrink_to_fit();
      }
    }
    if (totals) {
      totals_.push_back(*totals);
      if (!scaler_.goes_on_after(is_finite(*totals))) {
        end_at_the_cause(executor, constants);
      }
    }
    if (endpoint_.rank() == RankId(0) && options_.on_step) {
      StepProgress progress;
      progress.step = step;
      progress.steps = options_.steps;
      if (totals) {
        progress.loss = totals->loss;
        progress.gradient_norm = std::sqrt(totals->squared_norm);
      }
      progress.step_time = record.end - record.begin;
      progress.tokens = tokens_per_step(schedule_);
      progress.skipped_steps = scaler_.skipped();
      progress.loss_scale = scaler_.scale();
      options_.on_step(progress);
    }
  }

  /// Runs the step once more, which no weight has changed since, and looks at every result.
  [[noreturn]] void end_at_the_cause(RankExecutor& executor, UpdateStep constants) {
    constants.inspect = true;
    static_cast<void>(executor.step(constants, source_, nullptr));
    throw BackendError(
        {ErrorCode::kBackendFailed,
         "loss or gradient norm is NaN or infinite, but no tensor of the step is; "
         "lower the learning rate or clip the gradient",
         fmt::format("rank {}, step {}", endpoint_.rank().value(), constants.number)});
  }

  void give_up(const Error& error) {
    failure_ = error;
    endpoint_.abort(error);
  }

  const Schedule& schedule_;
  Endpoint& endpoint_;
  const MicroBatchSource& source_;
  const RunOptions& options_;
  LiveSteps* live_;  ///< of all ranks; may be null
  bool alone_;       ///< the other ranks live in other processes
  std::vector<RankPlan> plans_;
  const RankPlan* plan_ = nullptr;  ///< this rank's
  std::optional<ReplicaCheck> replicas_;
  LossScaler scaler_;
  std::vector<StepRecord> records_;
  std::vector<StepTotals> totals_;
  std::optional<Error> failure_;
  std::vector<RankResult> results_;
  std::vector<std::string> device_notes_;
  bool stopped_ = false;
};

/// Runs all ranks and returns when all have ended.  Aborts them when a stop was asked for and the
/// step does not end.
void run_threads(std::span<RankRun> ranks, World& world, const RunOptions& options) {
  std::mutex mutex;
  std::condition_variable ended;
  std::size_t running = ranks.size();
  std::vector<std::thread> threads;
  threads.reserve(ranks.size());
  for (RankRun& rank : ranks) {
    threads.emplace_back([&] {
      rank();
      const std::lock_guard lock(mutex);
      --running;
      ended.notify_one();
    });
  }
  {
    constexpr auto kLook = std::chrono::milliseconds(50);
    std::optional<std::chrono::steady_clock::time_point> limit;
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, kLook, [&] { return running == 0; })) {
      if (options.stop == nullptr || !options.stop->load()) {
        continue;
      }
      const auto now = std::chrono::steady_clock::now();
      if (!limit) {
        limit = now + std::chrono::duration_cast<std::chrono::nanoseconds>(options.stop_limit);
      } else if (now > *limit) {
        world.endpoints().front()->abort(
            {ErrorCode::kBackendFailed,
             fmt::format("the step did not end within {} after the stop was asked for",
                         to_string(options.stop_limit)),
             {}});
      }
    }
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

/// The first cause, and where every other rank was when it learned of it.
[[nodiscard]] Error failure_of(const World& world, std::span<const RankRun> ranks) {
  Error error = world.failure().value_or(Error{ErrorCode::kBackendFailed, "a rank failed", {}});
  constexpr int kListed = 8;
  int listed = 0;
  for (const RankRun& rank : ranks) {
    const std::optional<Error>& failure = rank.failure();
    if (failure && !failure->where.empty() && failure->where != error.where && listed++ < kListed) {
      error.message += fmt::format("\n  then at: {}", failure->where);
    }
  }
  return error;
}

/// Of the ranks that a rank knows of.
void add_results(const Schedule& schedule,
                 const RankRun& rank,
                 RunReport& report,
                 std::vector<RankMeasurements>& measurements) {
  for (std::size_t i = 0; i < rank.results().size(); ++i) {
    const RankResult& result = rank.results()[i];
    const RankPlan& plan = rank.plans()[i];
    measurements.push_back({&plan, result.steps, result.totals});
    report.memory.push_back(result.memory);
    report.arenas.push_back(plan.arena.capacity);
    report.executed.push_back(executed_operations(schedule, plan, result.lane_logs));
  }
}

}  // namespace

bool needs_loss_scale(const Schedule& schedule) {
  return std::ranges::any_of(schedule.programs, [](const RankProgram& program) {
    return std::ranges::any_of(program.stages, [](const StageProgram& stage) {
      return std::ranges::any_of(stage.backward, [](const Operation& operation) {
        return operation.kind == OpKind::kLossGradient && operation.dtype == DType::kFloat16;
      });
    });
  });
}

std::optional<std::int64_t> vocabulary_of(const Schedule& schedule) {
  std::vector<const StageProgram*> stages;
  for (const RankProgram& program : schedule.programs) {
    for (const StageProgram& stage : program.stages) {
      stages.push_back(&stage);
    }
  }
  for (const StageProgram* stage : stages) {
    const auto found = std::ranges::find_if(stage->forward, [](const Operation& operation) {
      return operation.kind == OpKind::kEmbeddingForward || operation.kind == OpKind::kLossRowSum;
    });
    if (found != stage->forward.end()) {
      return found->slice->total;
    }
  }
  return std::nullopt;
}

Result<RunReport> run(std::span<const Schedule* const> schedule_of_rank,
                      const MicroBatchSource& source,
                      const RunOptions& options) {
  const Schedule& schedule = *schedule_of_rank.front();
  SW_CHECK(schedule_of_rank.size() == schedule.ranks.size(), "a schedule for every rank");
  if (options.steps < 1) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{} steps; a run has at least one", options.steps),
                "steps");
  }
  if (auto good = check(options.rate); !good) {
    return fail(good.error().code, good.error().message, "rate." + good.error().where);
  }
  if (auto good = check(options.groups, schedule); !good) {
    return fail(good.error().code, good.error().message, "groups." + good.error().where);
  }
  for (const Schedule* each : std::set(schedule_of_rank.begin(), schedule_of_rank.end())) {
    if (auto good = validate(*each); !good) {
      return pass_on(std::move(good));
    }
  }
  const WorldSpec spec = world_of(schedule);
  auto world = options.make_world ? options.make_world(spec)
                                  : make_in_process_world(spec, {.timeout = options.timeout});
  if (!world) {
    return pass_on(std::move(world));
  }
  const bool alone = (*world)->endpoints().size() < schedule.ranks.size();
  std::optional<LiveSteps> live;
  if (options.on_live_trace && !alone) {
    live.emplace(schedule, options.live_interval, options.on_live_trace);
  }
  std::vector<RankRun> ranks;
  for (Endpoint* endpoint : (*world)->endpoints()) {
    ranks.emplace_back(*schedule_of_rank[endpoint->rank().index()],
                       *endpoint,
                       source,
                       options,
                       live ? &*live : nullptr,
                       alone);
  }
  run_threads(ranks, **world, options);
  if ((*world)->failure()) {
    return tl::unexpected(failure_of(**world, ranks));
  }
  RunReport report;
  std::vector<RankMeasurements> measurements;
  for (const RankRun& rank : ranks) {
    add_results(schedule, rank, report, measurements);
    report.stopped = report.stopped || rank.stopped();
    report.skipped_steps = rank.scaler().skipped();
    report.loss_scale = rank.scaler().scale();
    for (const std::string& note : rank.device_notes()) {
      if (std::ranges::find(report.device_notes, note) == report.device_notes.end()) {
        report.device_notes.push_back(note);
      }
    }
  }
  report.trace = measured_trace(schedule, measurements, "wall");
  if (options.virtual_clock) {
    report.virtual_trace = measured_trace(schedule, on_virtual_clock(measurements), "virtual");
  }
  return report;
}

Result<RunReport> run(const Schedule& schedule, const RunOptions& options) {
  const std::optional<std::int64_t> vocabulary = vocabulary_of(schedule);
  if (!vocabulary) {
    return fail(ErrorCode::kUnsupported,
                "the schedule has neither an embedding nor a loss to give data to",
                schedule.model_name);
  }
  const std::vector<const Schedule*> schedules(schedule.ranks.size(), &schedule);
  if (const auto elements = image_elements_of(schedule)) {
    if (!options.data.empty()) {
      return fail(ErrorCode::kInvalidInput,
                  "the schedule trains on synthetic images, which need no file; leave it out",
                  options.data.string());
    }
    const SyntheticImages images(
        {.elements = *elements, .classes = *vocabulary}, schedule, options.seed);
    return run(schedules, images, options);
  }
  if (options.data.empty()) {
    return fail(ErrorCode::kInvalidInput,
                "there is nothing to train on; give a text file, a folder of text files or a file "
                "of tokens (.bin)",
                "data");
  }
  auto data = open_tokens(options.data, *vocabulary, options.token_width);
  if (!data) {
    return pass_on(std::move(data));
  }
  if (auto good = SampledBatches::check(*data, schedule); !good) {
    return pass_on(std::move(good));
  }
  const SampledBatches batches(*data, schedule, options.seed);
  return run(schedules, batches, options);
}

}  // namespace stagewright
