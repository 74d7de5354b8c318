#include "planner/search/search.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "planner/lower/check_plan.h"
#include "planner/lower/lower.h"
#include "planner/schedules/registry.h"
#include "planner/search/closed_form.h"
#include "planner/search/layer_costs.h"
#include "planner/search/space.h"
#include "sim/engine/static_pass.h"

namespace stagewright {
namespace {

// Keeps sums over a step inside 64 bits.
constexpr std::int64_t kMostSequences = std::int64_t{1} << 30;

/// A point that fits by closed form, waiting to be simulated.
struct Promising {
  SpacePoint point;
  Estimate estimate;
};

/// "parameter 3.1 GiB, gradient 6.2 GiB, ...": each at its own peak, nothing left out but zeros.
std::string by_component(const MemoryPeaks& peaks) {
  std::string text;
  for (int c = 0; c < kTensorClassCount; ++c) {
    const Bytes bytes = peaks.by_class[static_cast<std::size_t>(c)];
    if (bytes != Bytes{}) {
      text += fmt::format("{}{} {}",
                          text.empty() ? "" : ", ",
                          name_of(static_cast<TensorClass>(c)),
                          to_string(bytes));
    }
  }
  return text;
}

/// The work of one search() call.
class Search {
 public:
  Search(const ModelGraph& model,
         const Cluster& cluster,
         const CostModel& cost,
         const SearchRequest& request,
         const SearchControl& control)
      : model_(model),
        cluster_(cluster),
        cost_(cost),
        request_(request),
        control_(control),
        model_flops_(model_flops(model, request.global_batch * request.sequence, request.sequence)),
        common_(common_plan(model, cluster, request)) {}

  Result<SearchResult> run();

 private:
  using CostKey = std::tuple<std::int32_t, std::int32_t, Recompute>;

  [[nodiscard]] bool stopped() const {
    return control_.stop != nullptr && control_.stop->load(std::memory_order_relaxed);
  }
  void progress() const;
  const Result<LayerCosts>& costs_of(const SpacePoint& point);
  void evaluate(const Space& space);
  void simulate_front();
  void simulate(const Promising& candidate);
  [[nodiscard]] Plan complete(const Promising& candidate) const;
  void reject(const SpacePoint& point, std::string reason);
  [[nodiscard]] Error nothing_fits() const;

  const ModelGraph& model_;
  const Cluster& cluster_;
  const CostModel& cost_;
  const SearchRequest& request_;
  const SearchControl& control_;
  const Flops model_flops_;
  const Plan common_;
  std::map<CostKey, Result<LayerCosts>> costs_;
  std::vector<Promising> promising_;
  SearchResult result_;
};

void Search::progress() const {
  if (control_.on_progress) {
    control_.on_progress({result_.evaluated, result_.space_size, result_.simulated});
  }
}

void Search::reject(const SpacePoint& point, std::string reason) {
  Plan plan = plan_of(point, common_);
  const auto layers = static_cast<std::int32_t>(model_.layers.size());
  plan.stages = even_stages(layers, std::min(point.pp, layers), point.dp, point.tp);
  plan.stages.resize(static_cast<std::size_t>(point.pp),
                     StagePlan{.first_layer = layers, .layers = 0, .dp = point.dp, .tp = point.tp});
  for (StagePlan& stage : plan.stages) {
    stage.recompute = point.recompute;
  }
  result_.rejected.push_back({std::move(plan), std::move(reason)});
}

const Result<LayerCosts>& Search::costs_of(const SpacePoint& point) {
  const CostKey key{point.tp, point.micro_batch_size, point.recompute};
  const auto found = costs_.find(key);
  if (found != costs_.end()) {
    return found->second;
  }
  Plan shape = plan_of(point, common_);
  shape.stages = {StagePlan{.tp = point.tp, .recompute = point.recompute}};
  return costs_.emplace(key, layer_costs(model_, cluster_, cost_, shape)).first->second;
}

void Search::evaluate(const Space& space) {
  const ClosedForm closed_form(cluster_, cost_, request_.memory_share);
  for (const SpacePoint& point : space.points) {
    if (stopped()) {
      result_.interrupted = true;
      return;
    }
    if (auto step = check_step_size(point.micro_batches, point.micro_batch_size, common_.sequence);
        !step) {
      reject(point, step.error().message);
      continue;
    }
    const Result<LayerCosts>& costs = costs_of(point);
    if (!costs) {
      reject(point, costs.error().message);
      continue;
    }
    ++result_.evaluated;
    if (result_.evaluated % 256 == 0) {
      progress();
    }
    Overflow overflow;
    if (auto estimate = closed_form.evaluate(point, *costs, overflow)) {
      promising_.push_back({point, std::move(*estimate)});
    } else {
      reject(
          point,
          fmt::format("out of memory: the fullest stage needs at least {} (parameters, gradients "
                      "and optimizer {}, activations and loss {}), {} are usable beside {} of "
                      "context and libraries",
                      to_string(overflow.needed),
                      to_string(overflow.state),
                      to_string(overflow.needed - overflow.state),
                      to_string(overflow.capacity),
                      to_string(cluster_.types.front().context)));
    }
  }
}

Plan Search::complete(const Promising& candidate) const {
  const SpacePoint& point = candidate.point;
  Plan plan = plan_of(point, common_);
  std::int32_t first = 0;
  for (const std::int32_t layers : candidate.estimate.stage_layers) {
    plan.stages.push_back({.first_layer = first,
                           .layers = layers,
                           .dp = point.dp,
                           .tp = point.tp,
                           .recompute = point.recompute});
    first += layers;
  }
  return plan;
}

void Search::simulate(const Promising& candidate) {
  Plan plan = complete(candidate);
  const auto schedule = lower(model_, cluster_, plan);
  if (!schedule) {
    reject(candidate.point, schedule.error().message);
    return;
  }
  const auto simulation = stagewright::simulate(
      *schedule, cluster_, cost_, {.trace = TraceDetail::kNone, .model_flops = model_flops_});
  if (!simulation) {
    reject(candidate.point, simulation.error().message);
    return;
  }
  ++result_.simulated;
  const Summary& summary = simulation->summary;
  const Bytes capacity(static_cast<std::int64_t>(
      static_cast<double>(cluster_.types.front().memory.count()) * request_.memory_share));
  if (summary.peak_memory > capacity) {
    const RankSummary& fullest =
        *std::ranges::max_element(summary.ranks, {}, &RankSummary::device_memory);
    reject(candidate.point,
           fmt::format("out of memory: rank {} needs {} ({}, context and libraries {}), the device "
                       "has {}",
                       fullest.rank.value(),
                       to_string(summary.peak_memory),
                       by_component(fullest.memory),
                       to_string(cluster_.types.front().context),
                       to_string(capacity)));
    return;
  }
  result_.plans.push_back({.plan = std::move(plan),
                           .step_time = summary.step_time,
                           .tokens_per_s = summary.tokens_per_second,
                           .mfu = summary.mfu.value_or(0),
                           .peak_memory = summary.peak_memory,
                           .bubble = summary.bubble});
  std::ranges::stable_sort(result_.plans, {}, &Candidate::step_time);
  if (result_.plans.size() > static_cast<std::size_t>(request_.keep)) {
    result_.plans.pop_back();
  }
}

void Search::simulate_front() {
  std::ranges::stable_sort(
      promising_, {}, [](const Promising& candidate) { return candidate.estimate.bound; });
  for (std::size_t i = 0; i < promising_.size(); ++i) {
    const bool full = result_.plans.size() == static_cast<std::size_t>(request_.keep);
    if (full && promising_[i].estimate.bound >= result_.plans.back().step_time) {
      result_.pruned = static_cast<std::int64_t>(promising_.size() - i);
      return;
    }
    if (stopped()) {
      result_.interrupted = true;
      return;
    }
    simulate(promising_[i]);
    progress();
  }
}

Error Search::nothing_fits() const {
  if (result_.rejected.empty()) {
    return {ErrorCode::kInfeasible,
            fmt::format("no way to use {} devices satisfies the fixed choices; drop one of --dp, "
                        "--tp, --pp (their product must be the number of devices)",
                        cluster_.device_count()),
            {}};
  }
  std::map<std::string, std::int64_t> counts;
  std::string overflow;
  for (const Rejection& rejection : result_.rejected) {
    // Only out of memory has figures that differ from point to point.
    const bool figures = rejection.reason.starts_with("out of memory");
    if (figures) {
      overflow = rejection.reason;
    }
    ++counts[figures ? "out of memory" : rejection.reason];
  }
  const auto most =
      std::ranges::max_element(counts, {}, &std::pair<const std::string, std::int64_t>::second);
  const bool memory = most->first == "out of memory";
  return {ErrorCode::kInfeasible,
          fmt::format("none of {} points can be used; most often ({}): {}; {}",
                      result_.rejected.size(),
                      most->second,
                      memory ? overflow : most->first,
                      memory ? "use more devices, devices with more memory, or a shorter sequence"
                             : "change the batch or the fixed choices"),
          {}};
}

Result<SearchResult> Search::run() {
  const Space space = enumerate_space(model_, cluster_, request_);
  result_.space_size = static_cast<std::int64_t>(space.points.size() + space.impossible.size());
  for (const Space::Impossible& impossible : space.impossible) {
    reject(impossible.point, impossible.reason);
  }
  evaluate(space);
  simulate_front();
  if (result_.plans.empty() && !result_.interrupted) {
    return tl::unexpected<Error>(nothing_fits());
  }
  return std::move(result_);
}

}  // namespace

Result<SearchResult> search(const ModelGraph& model,
                            const Cluster& cluster,
                            const CostModel& cost,
                            const SearchRequest& request,
                            const SearchControl& control) {
  if (request.global_batch < 1 || request.sequence < 1 || request.keep < 1) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("global batch {}, sequence {} and number of plans {} must be 1 or more",
                            request.global_batch,
                            request.sequence,
                            request.keep));
  }
  if (request.global_batch > kMostSequences) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("global batch {} is more than the {} sequences that are supported",
                            request.global_batch,
                            kMostSequences));
  }
  if (!(request.memory_share > 0 && request.memory_share <= 1)) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("memory share {} is not above 0 and at most 1", request.memory_share));
  }
  if (request.schedule) {
    if (auto known = find_schedule(*request.schedule); !known) {
      return pass_on(std::move(known));
    }
  }
  return Search(model, cluster, cost, request, control).run();
}

}  // namespace stagewright
