#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"
#include "core/training/framework.h"
#include "planner/lower/repeat_rules.h"
#include "planner/search/constraint.h"
#include "planner/search/objective.h"
#include "planner/search/plan_point.h"
#include "sim/cost/cost_model.h"
#include "sim/cost/step_constants.h"
#include "sim/memory/memory_constants.h"

namespace stagewright {

/// What the closed form of sim/step and sim/memory needs: with it, points that lowering cannot
/// execute yet (context parallelism, ...) are in the space.
struct StepPrices {
  FrameworkProfile framework;
  StepConstants time;
  MemoryConstants memory;
};

/// What is asked: the training job, and what the user already decided.
struct SearchRequest {
  std::int64_t global_batch = 0;  ///< sequences per optimizer step
  std::int32_t sequence = 0;      ///< tokens
  PrecisionPlan precision;
  OptimizerSpec optimizer;
  Constraints constraints;  ///< fixed choices; the rest is searched
  Objective objective;
  RepeatRules repeats;  ///< what recomputation repeats
  /// Share of the device's memory that a plan may fill.
  double memory_share = 1.0;
  std::int32_t keep = 10;  ///< best plans to return
  /// The search may stop where no plan can be better than the best one by more than this share: 0
  /// proves the best `keep`.
  double gap = 0;
  /// The search may stop after so many simulations of plans that can be used, too.
  std::optional<std::int64_t> most_simulated;
  std::optional<double> seconds;  ///< time limit; what is found then depends on the machine
  std::optional<StepPrices> step_prices;
  std::int64_t every_cut_up_to = 128;  ///< SpaceJob::every_cut_up_to
  std::int32_t threads = 0;            ///< 0: all cores; the result is the same for any number
};

/// A plan with the static pass's figures; or, where lowering cannot execute it, the closed form's.
struct Candidate {
  Plan plan;
  PlanPoint point;
  bool simulated = true;
  Duration bound{};  ///< closed form that is never above the static pass; zero if not simulated
  Duration step_time{};
  double tokens_per_s = 0;
  double mfu = 0;
  Bytes peak_memory{};            ///< fullest rank, context included
  double bubble = 0;              ///< mean over ranks of the share of the step without compute
  double exposed = 0;             ///< the same of computing that waits for communication
  double objective = 0;           ///< less is better
  std::optional<Duration> p95{};  ///< of the step time under jitter, where that is the objective
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// Whether `a` is no worse than `b` in step time, memory and devices, and better in one of them.
[[nodiscard]] bool beats(const Candidate& a, const Candidate& b);

/// Points of the space that cannot be used, by reason, with an example.
struct Rejection {
  Plan plan;
  std::string reason;
  friend bool operator==(const Rejection&, const Rejection&) = default;
};

/// Points of the space by what became of them; they add up to its size.
struct SpaceCounts {
  std::int64_t size = 0;            ///< points that the values of the dimensions span
  std::int64_t evaluated = 0;       ///< priced in closed form, time and memory, one by one
  std::int64_t by_devices = 0;      ///< pruned: their operations alone take too long at peak rate
  std::int64_t by_state = 0;        ///< pruned: parameters, gradients, optimizer do not fit
  std::int64_t by_activations = 0;  ///< pruned: with one micro-batch's activations
  std::int64_t by_compute = 0;      ///< pruned: the layers alone take too long
  std::int64_t by_pipeline = 0;     ///< pruned: with the schedule's fill and drain
  std::int64_t by_exchange = 0;     ///< pruned: with what replicas exchange and hold of the state
  std::int64_t duplicates = 0;      ///< the same plan as another point
  std::int64_t without_price = 0;   ///< pruned: layers that cannot be lowered so
  std::int64_t left = 0;            ///< not looked at: stopped early
  friend bool operator==(const SpaceCounts&, const SpaceCounts&) = default;
  /// Of what became of points; the size stays.
  SpaceCounts& operator+=(const SpaceCounts& other) {
    evaluated += other.evaluated;
    by_devices += other.by_devices;
    by_state += other.by_state;
    by_activations += other.by_activations;
    by_compute += other.by_compute;
    by_pipeline += other.by_pipeline;
    by_exchange += other.by_exchange;
    duplicates += other.duplicates;
    without_price += other.without_price;
    left += other.left;
    return *this;
  }
};

struct SearchResult {
  std::vector<Candidate> plans;      ///< simulated, best first
  std::vector<Candidate> estimated;  ///< closed form alone, best first
  /// Of all simulated ones: none is worse in step time, memory and devices at once.
  std::vector<Candidate> pareto;
  std::vector<Rejection> rejected;
  SpaceCounts space;
  std::int64_t out_of_memory = 0;  ///< evaluated points that do not fit
  std::int64_t out_of_time = 0;    ///< evaluated points whose bound is no better than what is kept
  std::int64_t simulated = 0;      ///< lowered and timed by the static pass
  /// No simulatable plan of the space can be better than the first one by more than this share.
  double gap = 0;
  bool interrupted = false;  ///< stopped early: the best so far
};

/// Called now and then from the search, by one thread at a time.
struct SearchProgress {
  std::int64_t done = 0;  ///< points evaluated or pruned
  std::int64_t space_size = 0;
  std::int64_t simulated = 0;
};

struct SearchControl {
  std::function<void(const SearchProgress&)> on_progress;
  /// Told of every plan once it is simulated, by one thread at a time, in no order of value.
  std::function<void(const Candidate&)> on_candidate;
  const std::atomic<bool>* stop = nullptr;
};

/// Searches the whole space (planner/search/dimension.h has its dimensions), prunes by bounds that
/// are never above the static pass, and simulates what may still be among the best.  Deterministic
/// for any number of threads unless stopped.  kInfeasible when nothing is left or fits: the message
/// says what stood in the way and what would help.
[[nodiscard]] Result<SearchResult> search(const ModelGraph& model,
                                          const Cluster& cluster,
                                          const CostModel& cost,
                                          const SearchRequest& request,
                                          const SearchControl& control = {});

}  // namespace stagewright
