#include "planner/search/search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>

#include "planner/search/check_request.h"
#include "planner/search/closed_form_points.h"
#include "planner/search/empty_space.h"
#include "planner/search/front.h"
#include "planner/search/impossible_degrees.h"
#include "planner/search/leaf_queue.h"
#include "planner/search/nothing_fits.h"
#include "planner/search/pareto.h"
#include "planner/search/simulate_leaves.h"
#include "planner/search/space.h"
#include "planner/search/walk.h"
#include "sim/cost/analytical_compute.h"

namespace stagewright {
namespace {

/// Spaces of so many points are walked at once, without a first plan.
constexpr std::int64_t kSmallSpace = 20'000;
/// Simulated together, so that the result depends on no number of threads: as many as are wanted
/// still, and a few where the next one may be the last.
constexpr std::size_t kMostTogether = 8;
constexpr std::size_t kFewTogether = 4;
constexpr std::size_t kRefined = 64;
/// Coarse plans tried for a first one that fits.
constexpr std::size_t kMostFirstPlans = 512;
constexpr std::size_t kMostRejections = 1000;
constexpr std::int64_t kTriesToFill = 4;  ///< times as many as may be simulated
/// Where what a walk has dropped may be better than what was found, more is kept the next time.
constexpr std::size_t kMoreLeaves = 8;
constexpr std::size_t kMostLeaves = 32'768;

struct Degrees {
  std::int32_t tp = 1;
  std::int32_t pp = 1;
};

/// The work of one search() call.
class Search {
 public:
  Search(const ModelGraph& model,
         const Cluster& cluster,
         const CostModel& cost,
         const SearchRequest& request,
         const SearchControl& control)
      : request_(request),
        control_(control),
        common_(common_plan(model, cluster, request)),
        space_(space_job(model, cluster, request)),
        counter_(space_),
        places_(cluster),
        costs_(model, cluster, cost, common_, places_),
        arena_(request.threads > 0 ? request.threads : tbb::task_arena::automatic),
        begin_(std::chrono::steady_clock::now()) {
    const DeviceType& device = cluster.types.front();
    job_.space = &space_;
    job_.counter = &counter_;
    job_.request = &request_;
    job_.closed_form = {.model = &model,
                        .cluster = &cluster,
                        .cost = &cost,
                        .places = &places_,
                        .costs = &costs_,
                        .capacity = {},
                        .context = device.context,
                        .clips = request.optimizer.clip_norm.has_value(),
                        .gradient = request.precision.gradient};
    job_.closed_form.capacity =
        Bytes(static_cast<std::int64_t>(static_cast<double>(device.memory.count()) *
                                        request.memory_share)) -
        device.context;
    job_.model_flops =
        model_flops(model, request.global_batch * request.sequence, request.sequence);
    // A device without an architecture (the CPU) may be faster than its file says.
    if (!device.architecture.empty()) {
      job_.peak = matrix_peak(device, request.precision.compute);
    }
    if (request.step_prices && !sees_images(model)) {
      job_.setup = job_setup(model, cluster, request);
    }
    job_.stopped = &stopped_;
  }

  Result<SearchResult> run();

 private:
  [[nodiscard]] bool stopped() const {
    if (control_.stop != nullptr && control_.stop->load(std::memory_order_relaxed)) {
      return true;
    }
    return request_.seconds &&
           std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count() >
               *request_.seconds;
  }

  void find_degrees();
  [[nodiscard]] std::vector<WalkResult> walk_all(const WalkJob& job);
  [[nodiscard]] std::vector<WalkResult> count_and_walk();
  void refine_all(std::vector<Leaf> leaves, LeafQueue& queue);
  void simulate_all(std::vector<Leaf> leaves);
  /// Simulates leaves, best first, until `enough` says so for the objective of the next one's
  /// bound, of which at least `wanted` plans are asked.  The least objective that is left.
  double simulate_in_order(std::vector<Leaf> leaves,
                           std::size_t wanted,
                           const std::function<bool(double next)>& enough);
  void keep(Simulated simulated);
  void first_plans(std::vector<WalkResult> walks);
  void merge(std::vector<WalkResult> walks);
  /// Leaves that walks dropped and that may be better than what was found; whether there are any.
  bool walk_for_dropped();
  void simulate_front();
  void judge_robustness();
  void finish();
  [[nodiscard]] std::size_t kept() const { return static_cast<std::size_t>(request_.keep); }
  [[nodiscard]] double best() const {
    return all_.empty() ? std::numeric_limits<double>::infinity() : all_.front().objective;
  }
  [[nodiscard]] double worst_kept() const {
    return all_.size() < kept() ? std::numeric_limits<double>::infinity()
                                : all_[kept() - 1].objective;
  }
  void progress(std::int64_t done);

  const SearchRequest& request_;
  const SearchControl& control_;
  const Plan common_;
  const SpaceJob space_;
  SpaceCounter counter_;
  const GroupPlaces places_;
  CostCache costs_;
  WalkJob job_;
  tbb::task_arena arena_;
  std::chrono::steady_clock::time_point begin_;
  const std::function<bool()> stopped_ = [this] { return stopped(); };
  std::vector<Degrees> degrees_;
  std::vector<double> dropped_;  ///< by degrees: least objective of what no walk has kept
  std::vector<Candidate> all_;   ///< simulated, best first
  std::vector<PlanPoint> tried_;
  LeafSimulator simulator_;
  OrderCache orders_;
  std::int64_t priced_ = 0;  ///< simulated, and not rejected
  std::vector<Leaf> leaves_;
  double unseen_ = std::numeric_limits<double>::infinity();  ///< least bound that nobody simulated
  std::optional<Leaf> nearest_miss_;
  std::optional<std::string> without_price_;
  std::mutex progress_mutex_;
  std::int64_t done_ = 0;
  SearchResult result_;
};

void Search::progress(std::int64_t done) {
  if (!control_.on_progress) {
    return;
  }
  const std::lock_guard lock(progress_mutex_);
  done_ += done;
  control_.on_progress({done_, result_.space.size, result_.simulated});
}

void Search::find_degrees() {
  std::vector<std::int64_t> tensor;
  std::vector<std::int64_t> pipeline;
  allowed_values(space_, 0, PlanPoint{}, tensor);
  for (const std::int64_t tp : tensor) {
    PlanPoint point;
    point.tp = static_cast<std::int32_t>(tp);
    allowed_values(space_, 1, point, pipeline);
    for (const std::int64_t pp : pipeline) {
      degrees_.push_back({point.tp, static_cast<std::int32_t>(pp)});
    }
  }
}

std::vector<WalkResult> Search::walk_all(const WalkJob& job) {
  std::vector<WalkResult> results(degrees_.size());
  arena_.execute([&] {
    tbb::parallel_for(std::size_t{0}, degrees_.size(), [&](std::size_t i) {
      results[i] = walk_degrees(job, degrees_[i].tp, degrees_[i].pp);
      if (!job.coarse) {
        const SpaceCounts& counts = results[i].counts;
        progress(counts.evaluated + counts.by_devices + counts.by_state + counts.by_activations +
                 counts.by_compute + counts.by_pipeline + counts.by_exchange);
      }
    });
  });
  return results;
}

/// Counts the space beside a coarse walk over it, which a small one has no use for.
std::vector<WalkResult> Search::count_and_walk() {
  std::vector<WalkResult> walks;
  std::atomic<bool> small = false;
  const std::function<bool()> stop = [&] { return small.load() || stopped(); };
  WalkJob job = job_;
  job.coarse = true;
  job.stopped = &stop;
  arena_.execute([&] {
    tbb::parallel_invoke([&] { walks = walk_all(job); },
                         [&] {
                           result_.space.size = counter_.below(0, PlanPoint{});
                           small = result_.space.size <= kSmallSpace;
                         });
  });
  return walks;
}

void Search::keep(Simulated simulated) {
  ++result_.simulated;
  if (auto* rejection = std::get_if<Rejection>(&simulated)) {
    if (result_.rejected.size() < kMostRejections) {
      result_.rejected.push_back(std::move(*rejection));
    }
    return;
  }
  ++priced_;
  Candidate candidate = std::get<Candidate>(std::move(simulated));
  // Of plans that differ in their buckets alone the best.
  Plan plan = candidate.plan;
  const auto same = std::ranges::find_if(all_, [&](const Candidate& other) {
    plan.bucket_size = other.plan.bucket_size;
    return plan == other.plan;
  });
  if (same != all_.end()) {
    if (same->objective <= candidate.objective) {
      return;
    }
    all_.erase(same);
  }
  if (control_.on_candidate) {
    control_.on_candidate(candidate);
  }
  const auto place = std::ranges::upper_bound(all_, candidate.objective, {}, &Candidate::objective);
  all_.insert(place, std::move(candidate));
}

void Search::refine_all(std::vector<Leaf> leaves, LeafQueue& queue) {
  arena_.execute([&] {
    tbb::parallel_for(std::size_t{0}, leaves.size(), [&](std::size_t i) {
      if (!stopped()) {  // its bound of before is one still
        refine(job_, orders_, leaves[i]);
      }
    });
  });
  for (Leaf& leaf : leaves) {
    if (leaf.estimate.fits) {
      queue.add(std::move(leaf), true);
    } else {
      ++result_.out_of_memory;
    }
  }
}

void Search::simulate_all(std::vector<Leaf> leaves) {
  std::erase_if(leaves, [&](const Leaf& leaf) {
    const bool known = std::ranges::find(tried_, leaf.point) != tried_.end();
    if (!known) {
      tried_.push_back(leaf.point);
    }
    return known;
  });
  std::vector<Simulated> simulated;
  arena_.execute([&] { simulated = simulator_.run(job_, common_, leaves); });
  result_.interrupted = result_.interrupted || simulated.size() < leaves.size();
  for (Simulated& one : simulated) {
    keep(std::move(one));
  }
  progress(0);
}

/// Best first: whatever has the least bound is timed in its own order, and simulated once it still
/// has the least.
double Search::simulate_in_order(std::vector<Leaf> leaves,
                                 std::size_t wanted,
                                 const std::function<bool(double next)>& enough) {
  LeafQueue queue;
  for (Leaf& leaf : leaves) {
    queue.add(std::move(leaf), false);
  }
  while (!queue.empty() && !enough(queue.least())) {
    if (stopped()) {
      result_.interrupted = true;
      break;
    }
    if (queue.first_is_refined()) {
      const std::size_t missing = wanted - std::min(wanted, all_.size());
      const std::size_t together = std::clamp(missing, kFewTogether, kMostTogether);
      simulate_all(queue.take(together, enough));
    } else {
      refine_all(queue.take(kRefined, enough), queue);
    }
  }
  return queue.least();
}

/// Plans to measure all others by.
void Search::first_plans(std::vector<WalkResult> walks) {
  std::vector<Leaf> leaves;
  for (WalkResult& walk : walks) {
    std::ranges::move(walk.leaves, std::back_inserter(leaves));
  }
  std::ranges::stable_sort(leaves, {}, &Leaf::value);
  if (leaves.size() > kMostFirstPlans) {
    leaves.resize(kMostFirstPlans);
  }
  const std::size_t wanted = request_.gap > 0 ? 1 : kept();
  simulate_in_order(std::move(leaves), wanted, [&](double next) {
    const bool found = all_.size() >= wanted;
    return found && (request_.gap > 0 || next >= worst_kept());
  });
  job_.limit = request_.gap > 0 ? best() : worst_kept();
}

void Search::merge(std::vector<WalkResult> walks) {
  std::vector<Leaf> estimates;
  for (WalkResult& walk : walks) {
    result_.space += walk.counts;
    result_.out_of_memory += walk.out_of_memory;
    result_.out_of_time += walk.out_of_time;
    dropped_.push_back(walk.least_dropped);
    std::ranges::move(walk.leaves, std::back_inserter(leaves_));
    std::ranges::move(walk.estimates, std::back_inserter(estimates));
    if (walk.nearest_miss && (!nearest_miss_ || walk.nearest_miss->estimate.bound.memory <
                                                    nearest_miss_->estimate.bound.memory)) {
      nearest_miss_ = std::move(walk.nearest_miss);
    }
    if (!without_price_) {
      without_price_ = std::move(walk.without_price);
    }
  }
  result_.interrupted = result_.interrupted || result_.space.left > 0;
  std::ranges::stable_sort(leaves_, {}, &Leaf::value);
  std::ranges::stable_sort(estimates, {}, &Leaf::value);
  if (estimates.size() > kept()) {
    estimates.resize(kept());
  }
  for (const Leaf& leaf : estimates) {
    result_.estimated.push_back(estimated(job_, common_, leaf));
  }
}

bool Search::walk_for_dropped() {
  const double worth = request_.gap > 0 ? best() * (1 - request_.gap) : worst_kept();
  if (job_.most_leaves >= kMostLeaves || stopped() ||
      std::ranges::none_of(dropped_, [&](double dropped) { return dropped < worth; })) {
    return false;
  }
  job_.most_leaves *= kMoreLeaves;
  WalkJob job = job_;
  job.limit = std::min(job.limit, worth);
  std::vector<WalkResult> walks(degrees_.size());
  arena_.execute([&] {
    tbb::parallel_for(std::size_t{0}, degrees_.size(), [&](std::size_t i) {
      if (dropped_[i] < worth) {
        walks[i] = walk_degrees(job, degrees_[i].tp, degrees_[i].pp);
      }
    });
  });
  leaves_.clear();
  for (std::size_t i = 0; i < walks.size(); ++i) {
    if (dropped_[i] >= worth) {
      continue;
    }
    if (walks[i].counts.left > 0) {
      result_.interrupted = true;
      continue;
    }
    // Those before were kept by the walk before.
    std::ranges::copy_if(walks[i].leaves, std::back_inserter(leaves_), [&](const Leaf& leaf) {
      return leaf.value >= dropped_[i];
    });
    dropped_[i] = std::min(worth, walks[i].least_dropped);
  }
  std::ranges::stable_sort(leaves_, {}, &Leaf::value);
  return true;
}

void Search::simulate_front() {
  const std::int64_t before = priced_;
  const std::int64_t tried_before = result_.simulated;
  const std::size_t first = all_.size();
  const auto all_simulated = [&] {
    return request_.most_simulated && priced_ - before >= *request_.most_simulated;
  };
  const auto enough = [&](double bound) {
    if (all_simulated()) {
      return true;
    }
    if (request_.gap == 0) {
      return bound >= worst_kept();
    }
    if (bound < best() * (1 - request_.gap)) {
      return false;
    }
    // The list is filled by what comes next, not by the plans that all were measured by at first.
    // Not many are tried for it alone, most of which may be refused.
    const bool tried = request_.most_simulated &&
                       result_.simulated - tried_before >= kTriesToFill * *request_.most_simulated;
    return bound >= worst_kept() || all_.size() >= first + kept() || tried;
  };
  double next = simulate_in_order(std::move(leaves_), kept(), enough);
  while (!result_.interrupted && !all_simulated() && walk_for_dropped()) {
    next = std::min(next, simulate_in_order(std::move(leaves_), kept(), enough));
  }
  for (const double dropped : dropped_) {
    unseen_ = std::min(unseen_, dropped);
  }
  unseen_ = std::min(unseen_, next);
  unseen_ = std::min(unseen_, job_.limit);
  if (result_.space.left > 0) {
    unseen_ = 0;
  }
}

void Search::judge_robustness() {
  if (request_.objective.aim != Aim::kRobustness) {
    return;
  }
  const std::size_t judged = std::min(all_.size(), kept());
  std::vector<std::optional<Result<Duration>>> p95(judged);
  arena_.execute([&] {
    tbb::parallel_for(
        std::size_t{0}, judged, [&](std::size_t i) { p95[i] = p95_of(job_, all_[i].plan); });
  });
  for (std::size_t i = 0; i < judged; ++i) {
    if (p95[i]->has_value()) {
      all_[i].p95 = **p95[i];
      all_[i].objective = to_seconds(**p95[i]);
    }
  }
  all_.resize(judged);
  std::ranges::stable_sort(all_, {}, &Candidate::objective);
}

void Search::finish() {
  result_.pareto = pareto_front(all_);
  result_.gap = all_.empty() || best() <= 0 ? 0 : std::max(0.0, 1 - unseen_ / best());
  if (!std::isfinite(result_.gap)) {
    result_.gap = 0;
  }
  result_.plans = std::move(all_);
  if (result_.plans.size() > kept()) {
    result_.plans.resize(kept());
  }
}

Result<SearchResult> Search::run() {
  find_degrees();
  std::vector<WalkResult> coarse = count_and_walk();
  if (result_.space.size == 0) {
    return tl::unexpected<Error>(explain_empty_space(space_));
  }
  if (result_.space.size > kSmallSpace && !stopped()) {
    first_plans(std::move(coarse));
  }
  merge(walk_all(job_));
  simulate_front();
  judge_robustness();
  for (Rejection& rejection : impossible_degrees(space_, common_)) {
    if (result_.rejected.size() < kMostRejections) {
      result_.rejected.push_back(std::move(rejection));
    }
  }
  if (all_.empty() && result_.estimated.empty() && !result_.interrupted) {
    return tl::unexpected<Error>(nothing_fits(job_, result_, nearest_miss_, without_price_));
  }
  finish();
  return std::move(result_);
}

}  // namespace

Result<SearchResult> search(const ModelGraph& model,
                            const Cluster& cluster,
                            const CostModel& cost,
                            const SearchRequest& request,
                            const SearchControl& control) {
  if (auto checked = check_request(request); !checked) {
    return pass_on(std::move(checked));
  }
  return Search(model, cluster, cost, request, control).run();
}

}  // namespace stagewright
