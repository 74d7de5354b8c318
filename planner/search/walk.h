#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "core/training/training_setup.h"
#include "planner/search/closed_form.h"
#include "planner/search/search.h"
#include "planner/search/space.h"

namespace stagewright {

/// A point that may be worth simulating; or, where lowering cannot execute it, its closed form.
struct Leaf {
  PlanPoint point;
  double value = 0;   ///< objective of its bounds
  Estimate estimate;  ///< of a walk's: without the cut, which refine() (front.h) finds again
};

/// What all walks of a search share.
struct WalkJob {
  const SpaceJob* space = nullptr;
  const SpaceCounter* counter = nullptr;  ///< that has counted the whole space
  const SearchRequest* request = nullptr;
  ClosedForm::Job closed_form;
  Flops model_flops{};                 ///< of a step
  FlopsPerSecond peak;                 ///< of one device
  std::optional<TrainingSetup> setup;  ///< of any point: machine and framework
  /// Subtrees and points whose objective is at least this are pruned.
  double limit = std::numeric_limits<double>::infinity();
  /// Only the usual values of the dimensions that change little, and only what is as good as the
  /// best so far: for a first plan to measure the others by.
  bool coarse = false;
  std::size_t most_leaves = 512;
  const std::function<bool()>* stopped = nullptr;
};

/// What became of the points of one tensor and pipeline degree.
struct WalkResult {
  SpaceCounts counts;
  std::int64_t out_of_memory = 0;
  std::int64_t out_of_time = 0;
  std::vector<Leaf> leaves;     ///< best first, at most WalkJob::most_leaves
  std::vector<Leaf> estimates;  ///< that lowering cannot execute, best first
  /// Least objective of what fitted and was dropped from `leaves`.
  double least_dropped = std::numeric_limits<double>::infinity();
  /// The point that misses the memory by least, for people.
  std::optional<Leaf> nearest_miss;
  std::optional<std::string> without_price;
};

/// Goes over all points with those degrees, pruning whole subtrees by bounds.
[[nodiscard]] WalkResult walk_degrees(const WalkJob& job, std::int32_t tp, std::int32_t pp);

}  // namespace stagewright
