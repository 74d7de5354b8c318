#include "planner/search/walk.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/longest_time.h"
#include "planner/schedules/registry.h"
#include "planner/search/closed_form_points.h"
#include "sim/memory/step_memory.h"
#include "sim/step/step_time.h"

namespace stagewright {
namespace {

/// A first plan may be this much worse than the best of its degrees.
constexpr double kCoarseSlack = 1.1;
constexpr std::size_t kCoarseLeaves = 8;
constexpr std::size_t kMostEstimates = 32;

/// Places of the dimensions behind which something new is known.
struct Levels {
  std::size_t devices = 0;
  std::size_t micro_batches = 0;  ///< and whether rows are divided
  std::size_t recompute = 0;
  std::size_t schedule = 0;
  std::size_t cut = 0;
  std::size_t rank_order = 0;
  std::size_t shard_group = 0;  ///< only buckets and precision of transfers are behind it

  Levels() {
    const auto all = dimensions();
    const auto behind = [&](std::string_view name) {
      return static_cast<std::size_t>(std::ranges::find(all, name, &Dimension::name) -
                                      all.begin()) +
             1;
    };
    devices = behind("devices");
    micro_batches = behind("sequence-parallel");
    recompute = behind("recompute-layers");
    schedule = behind("schedule");
    cut = behind("layers");
    rank_order = behind("rank-order");
    shard_group = behind("shard-group");
  }
};

const Levels& levels() {
  static const Levels kLevels;
  return kLevels;
}

class Walk {
 public:
  explicit Walk(const WalkJob& job) : job_(job), closed_form_(job.closed_form), setup_(job.setup) {}

  WalkResult run(std::int32_t tp, std::int32_t pp) {
    PlanPoint point;
    point.tp = tp;
    point.pp = pp;
    walk(2, point);
    const auto by_value = [](const Leaf& leaf) { return leaf.value; };
    std::ranges::stable_sort(result_.leaves, {}, by_value);
    trim(result_.leaves, most_leaves());
    std::ranges::stable_sort(result_.estimates, {}, by_value);
    if (result_.estimates.size() > kMostEstimates) {
      result_.estimates.resize(kMostEstimates);
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::size_t most_leaves() const {
    return job_.coarse ? kCoarseLeaves : job_.most_leaves;
  }

  [[nodiscard]] double limit() const {
    return job_.coarse ? std::min(job_.limit, kCoarseSlack * best_) : job_.limit;
  }

  [[nodiscard]] double value_at(const PlanPoint& point, const Bound& bound) const {
    return value_of(
        job_.request->objective,
        {.step_time = bound.time,
         .memory = bound.memory,
         .devices = point.devices(),
         .tokens = static_cast<double>(job_.request->global_batch) * job_.request->sequence});
  }

  [[nodiscard]] Bytes usable() const {
    return job_.closed_form.capacity + job_.closed_form.context;
  }

  void drop(std::int64_t SpaceCounts::*kind, std::size_t level, const PlanPoint& point) {
    if (!job_.coarse) {
      result_.counts.*kind += job_.counter->counted(level, point);
    }
  }

  void walk(std::size_t level, const PlanPoint& point) {
    const auto all = dimensions();
    if (stopped_ || ((++steps_ & 0x1FU) == 0 && (*job_.stopped)())) {
      stopped_ = true;
      drop(&SpaceCounts::left, level, point);
      return;
    }
    if (level == all.size()) {
      evaluate(point);
      return;
    }
    if (pruned(level, point)) {
      return;
    }
    std::vector<std::int64_t> values;
    allowed_values(*job_.space, level, point, values);
    if (job_.coarse) {
      narrow(all[level].name, values);
    }
    if (level + 1 == levels().rank_order) {
      drop_equal_orders(level, point, values);
    }
    for (const std::int64_t value : values) {
      PlanPoint next = point;
      all[level].set(next, value);
      walk(level + 1, next);
    }
  }

  static void narrow(std::string_view name, std::vector<std::int64_t>& values) {
    std::size_t most = values.size();
    if (name == "layers" || name == "rank-order" || name == "bucket" || name == "transfer" ||
        name == "shard-group") {
      most = 1;
    } else if (name == "zero") {
      most = 2;
    } else if (name == "virtual-stages" || name == "micro-batch") {
      most = 4;
    } else if (name == "cp" || name == "ep") {
      most = 1;
    } else if (name == "schedule") {
      const auto schedules = schedule_generators();
      const auto usual = [&](std::int64_t value) {
        const std::string_view schedule = schedules[static_cast<std::size_t>(value)].name;
        return schedule == "1f1b" || schedule == "interleaved-1f1b" || schedule == "dualpipe-v" ||
               schedule == "zb-v";
      };
      if (std::ranges::any_of(values, usual)) {
        std::erase_if(values, [&](std::int64_t value) { return !usual(value); });
      }
      return;
    }
    if (values.size() > most) {
      values.resize(most);
    }
  }

  /// Whether nothing below can be of use, counted.
  bool pruned(std::size_t level, const PlanPoint& point) {
    if (level == levels().devices) {
      return pruned_by_devices(level, point);
    }
    if (closed_form_alone(point)) {
      return level == levels().recompute && pruned_closed_form(level, point);
    }
    if (level == levels().micro_batches || level == levels().recompute) {
      return pruned_by_layers(level, point, level == levels().micro_batches);
    }
    if (level == levels().schedule &&
        value_at(point, {.time = closed_form_.of_schedule(point), .memory = {}}) >= limit()) {
      drop(&SpaceCounts::by_compute, level, point);
      return true;
    }
    if (level == levels().cut) {
      if (job_.space->constraint("layers") == nullptr && closed_form_.even_is_balanced(point)) {
        drop(&SpaceCounts::duplicates, level, point);
        return true;
      }
      Bound bound{.time = closed_form_.of_last_rank(point), .memory = {}};
      bool dear = value_at(point, bound) >= limit();
      if (!dear) {
        bound.time = closed_form_.time_of_pipeline(point);
        dear = value_at(point, bound) >= limit();
      }
      if (!dear) {
        bound.memory = closed_form_.memory_of_pipeline(point);
        dear = value_at(point, bound) >= limit();
      }
      if (dear) {
        drop(&SpaceCounts::by_pipeline, level, point);
        return true;
      }
      if (bound.memory > usable()) {
        drop(&SpaceCounts::by_activations, level, point);
        return true;
      }
    }
    if (level == levels().rank_order &&
        value_at(point, {.time = closed_form_.of_rank_order(point), .memory = {}}) >= limit()) {
      drop(&SpaceCounts::by_pipeline, level, point);
      return true;
    }
    // Buckets change no bound; the precision of transfers does.
    return level == levels().shard_group && job_.space->constraint("transfer") == nullptr &&
           pruned_by_exchange(level, point);
  }

  /// Of orders that place all groups alike the first stands for all.
  void drop_equal_orders(std::size_t level,
                         const PlanPoint& point,
                         std::vector<std::int64_t>& orders) {
    find_equal_orders(level, point, orders);
    std::erase_if(orders, [&](std::int64_t order) {
      const bool equal = std::ranges::find(equal_orders_, order) != equal_orders_.end();
      if (equal) {
        PlanPoint next = point;
        dimensions()[level].set(next, order);
        drop(&SpaceCounts::duplicates, level + 1, next);
      }
      return equal;
    });
  }

  /// Once for all points of the same degrees, which have the same orders.
  void find_equal_orders(std::size_t level,
                         const PlanPoint& point,
                         const std::vector<std::int64_t>& orders) {
    if (ordered_.dp == point.dp && ordered_.cp == point.cp && compared_orders_ == orders) {
      return;
    }
    ordered_ = point;
    compared_orders_ = orders;
    equal_orders_.clear();
    std::vector<RankPlaces> kept;
    for (const std::int64_t order : orders) {
      PlanPoint next = point;
      dimensions()[level].set(next, order);
      const auto places = job_.closed_form.places->exact_places(next);
      if (places && std::ranges::find(kept, *places) != kept.end()) {
        equal_orders_.push_back(order);
      } else if (places) {
        kept.push_back(*places);
      }
    }
  }

  bool pruned_by_exchange(std::size_t level, const PlanPoint& point) {
    shared_point_ = point;
    shared_ = closed_form_.whole(point, time_limit());
    if (!shared_->fits) {
      miss(point, shared_->bound.memory, shared_->state);
    } else if (value_at(point, shared_->bound) < limit()) {
      return false;
    }
    drop(&SpaceCounts::by_exchange, level, point);
    return true;
  }

  bool pruned_by_devices(std::size_t level, const PlanPoint& point) {
    Bound bound;
    if (job_.peak.count() > 0) {
      bound.time = job_.model_flops / (job_.peak * static_cast<double>(point.devices()));
    }
    if (value_at(point, bound) >= limit()) {
      drop(&SpaceCounts::by_devices, level, point);
      return true;
    }
    if (closed_form_alone(point)) {
      return false;
    }
    PlanPoint small = point;
    small.micro_batch_size = 1;
    const auto state = closed_form_.of_state(small);
    if (!state) {
      result_.without_price = closed_form_.why_not(small).message;
      drop(&SpaceCounts::without_price, level, point);
      return true;
    }
    if (*state > usable()) {
      miss(small, *state, *state);
      drop(&SpaceCounts::by_state, level, point);
      return true;
    }
    return false;
  }

  bool pruned_by_layers(std::size_t level, const PlanPoint& point, bool any_recompute) {
    const auto bound = closed_form_.of_layers(point, any_recompute);
    if (!bound) {
      result_.without_price = closed_form_.why_not(point).message;
      drop(&SpaceCounts::without_price, level, point);
      return true;
    }
    if (bound->time >= from_seconds(kLongestSeconds)) {
      result_.without_price = "a step takes more than the 46 days that are supported";
      drop(&SpaceCounts::without_price, level, point);
      return true;
    }
    if (bound->memory > usable()) {
      miss(point, bound->memory, Bytes{});
      drop(&SpaceCounts::by_activations, level, point);
      return true;
    }
    if (value_at(point, *bound) >= limit()) {
      drop(&SpaceCounts::by_compute, level, point);
      return true;
    }
    return false;
  }

  bool pruned_closed_form(std::size_t level, const PlanPoint& point) {
    set_point(setup_->run, point);
    if (!can_price(*setup_)) {
      drop(&SpaceCounts::without_price, level, point);
      return true;
    }
    const double seconds = busy_seconds(step_time(*setup_, job_.request->step_prices->time));
    if (value_at(point, {.time = from_seconds(seconds), .memory = {}}) >= estimate_limit()) {
      drop(&SpaceCounts::by_compute, level, point);
      return true;
    }
    return false;
  }

  /// No bound holds for these points, so that only the best are kept.
  [[nodiscard]] double estimate_limit() const {
    return result_.estimates.size() < kMostEstimates ? limit() : std::min(limit(), worst_estimate_);
  }

  void evaluate(const PlanPoint& point) {
    ++result_.counts.evaluated;
    if (!executable(point)) {
      evaluate_closed_form(point);
      return;
    }
    PlanPoint without_buckets = point;
    without_buckets.bucket_megabytes = 0;
    Estimate estimate = shared_ && shared_point_ == without_buckets
                            ? *shared_
                            : closed_form_.whole(point, time_limit());
    const double value = value_at(point, estimate.bound);
    if (!estimate.fits) {
      ++result_.out_of_memory;
      miss(point, estimate.bound.memory, estimate.state);
      return;
    }
    if (value >= limit()) {
      ++result_.out_of_time;
      return;
    }
    if (recomputes_nothing(point, estimate)) {
      return;
    }
    best_ = std::min(best_, value);
    // Its cut is found again where it is needed: of most leaves it never is.
    result_.leaves.push_back(
        {point, value, {.bound = estimate.bound, .fits = true, .state = estimate.state}});
    if (result_.leaves.size() >= 2 * most_leaves()) {
      std::ranges::stable_sort(result_.leaves, {}, &Leaf::value);
      trim(result_.leaves, most_leaves());
    }
  }

  /// Where all fits, "fits" is "none", which is a point of its own.
  [[nodiscard]] bool recomputes_nothing(const PlanPoint& point, const Estimate& estimate) const {
    const ValueSet* allowed = job_.space->constraint("recompute");
    return point.recompute_fits && (allowed == nullptr || allowed->has("none")) &&
           std::ranges::all_of(estimate.recomputed,
                               [](std::int32_t layers) { return layers == 0; });
  }

  /// The step time at which the objective reaches the limit, where that is time itself.
  [[nodiscard]] Duration time_limit() const {
    const Aim aim = job_.request->objective.aim;
    const bool by_time = aim == Aim::kStepTime || aim == Aim::kTokens || aim == Aim::kRobustness;
    return by_time && limit() < to_seconds(Duration::max()) ? from_seconds(limit())
                                                            : Duration::max();
  }

  void evaluate_closed_form(const PlanPoint& point) {
    set_point(setup_->run, point);
    if (!can_price(*setup_)) {
      ++result_.out_of_memory;
      return;
    }
    Estimate estimate;
    estimate.bound.time = from_seconds(step_time(*setup_, job_.request->step_prices->time).seconds);
    const double value = value_at(point, estimate.bound);
    if (value >= estimate_limit() || estimate.bound.time >= from_seconds(kLongestSeconds)) {
      ++result_.out_of_time;
      return;
    }
    estimate.bound.memory =
        step_memory(*setup_, job_.request->step_prices->memory).seen_as(MemoryView::kDriver);
    if (estimate.bound.memory > usable()) {
      ++result_.out_of_memory;
      return;
    }
    result_.estimates.push_back({point, value, std::move(estimate)});
    if (result_.estimates.size() >= 2 * kMostEstimates) {
      std::ranges::stable_sort(result_.estimates, {}, &Leaf::value);
      result_.estimates.resize(kMostEstimates);
      worst_estimate_ = result_.estimates.back().value;
    }
  }

  [[nodiscard]] bool closed_form_alone(const PlanPoint& point) const {
    return job_.setup.has_value() && !executable(point);
  }

  void trim(std::vector<Leaf>& leaves, std::size_t most) {
    if (leaves.size() > most) {
      result_.least_dropped = std::min(result_.least_dropped, leaves[most].value);
      leaves.resize(most);
    }
  }

  void miss(const PlanPoint& point, Bytes memory, Bytes state) {
    if (!result_.nearest_miss || memory < result_.nearest_miss->estimate.bound.memory) {
      result_.nearest_miss = Leaf{point, 0, {}};
      result_.nearest_miss->estimate.bound.memory = memory;
      result_.nearest_miss->estimate.state = state;
    }
  }

  const WalkJob& job_;
  ClosedForm closed_form_;
  std::optional<TrainingSetup> setup_;  ///< of the point at hand
  WalkResult result_;
  PlanPoint ordered_;  ///< whose degrees compared_orders_ belong to
  std::vector<std::int64_t> compared_orders_;
  std::vector<std::int64_t> equal_orders_;  ///< those of them that an earlier one stands for
  PlanPoint shared_point_;
  std::optional<Estimate> shared_;  ///< of all buckets of that point
  double best_ = std::numeric_limits<double>::infinity();
  double worst_estimate_ = std::numeric_limits<double>::infinity();
  std::uint64_t steps_ = 0;
  bool stopped_ = false;
};

}  // namespace

WalkResult walk_degrees(const WalkJob& job, std::int32_t tp, std::int32_t pp) {
  return Walk(job).run(tp, pp);
}

}  // namespace stagewright
