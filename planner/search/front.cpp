#include "planner/search/front.h"

#include <algorithm>

#include <fmt/format.h>

#include "planner/lower/lower.h"
#include "planner/schedules/registry.h"
#include "planner/schedules/stage_layout.h"
#include "sim/engine/monte_carlo.h"
#include "sim/engine/schedule_events.h"
#include "sim/engine/static_pass.h"

namespace stagewright {
namespace {

/// Of the step under jitter every rank counts: more would take minutes.
constexpr std::int64_t kMostJitteredDevices = 512;

bool one_stage_each(const PlanPoint& point) {
  return point.virtual_stages == 1 &&
         schedule_generators()[static_cast<std::size_t>(point.schedule)].layout == looped_layout;
}

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

std::string too_much(const WalkJob& job, const Summary& summary) {
  const RankSummary& fullest =
      *std::ranges::max_element(summary.ranks, {}, &RankSummary::device_memory);
  return fmt::format(
      "out of memory: rank {} needs {} ({}, context and libraries {}), the device has {}",
      fullest.rank.value(),
      to_string(summary.peak_memory),
      by_component(fullest.memory),
      to_string(job.closed_form.context),
      to_string(job.closed_form.capacity + job.closed_form.context));
}

double tokens_of(const WalkJob& job) {
  return static_cast<double>(job.request->global_batch) * job.request->sequence;
}

double value_of(const WalkJob& job, const Candidate& candidate) {
  return value_of(job.request->objective,
                  {.step_time = candidate.step_time,
                   .memory = candidate.peak_memory,
                   .devices = candidate.point.devices(),
                   .tokens = tokens_of(job)});
}

double exposed_share(const Summary& summary) {
  Duration exposed{};
  for (const auto& [kind, time] : summary.exposed) {
    exposed += time;
  }
  return summary.step_time > Duration{} ? to_seconds(exposed) / to_seconds(summary.step_time) : 0;
}

Candidate candidate_of(const WalkJob& job, const Leaf& leaf, Plan plan, const Summary& summary) {
  Candidate candidate{.plan = std::move(plan),
                      .point = leaf.point,
                      .simulated = true,
                      .bound = leaf.estimate.bound.time,
                      .step_time = summary.step_time,
                      .tokens_per_s = summary.tokens_per_second,
                      .mfu = summary.mfu.value_or(0),
                      .peak_memory = summary.peak_memory,
                      .bubble = summary.bubble,
                      .exposed = exposed_share(summary),
                      .objective = 0};
  candidate.objective = value_of(job, candidate);
  return candidate;
}

/// The list's summary, from `timed` where it stands there.
const Result<Summary>& time_list(const WalkJob& job,
                                 const Plan& plan,
                                 const Schedule& schedule,
                                 TimedLists& timed) {
  TimedLists::Key key{.plan = plan, .buckets = {}};
  key.plan.bucket_size.reset();
  for (const RankProgram& program : schedule.programs) {
    key.buckets.push_back(program.buckets);
  }
  return timed.find(std::move(key), [&]() -> Result<Summary> {
    auto simulation = simulate(schedule,
                               *job.closed_form.cluster,
                               *job.closed_form.cost,
                               {.trace = TraceDetail::kNone, .model_flops = job.model_flops});
    if (!simulation) {
      return tl::unexpected<Error>(std::move(simulation).error());
    }
    return std::move(simulation->summary);
  });
}

}  // namespace

const Result<Summary>& TimedLists::find(Key key, const std::function<Result<Summary>()>& time) {
  List* list = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(lists_, key, &List::key);
    list = found != lists_.end() ? &*found : &lists_.emplace_back(std::move(key));
  }
  std::call_once(list->once, [&] { list->summary.emplace(time()); });
  return *list->summary;
}

Plan complete(const Leaf& leaf, const Plan& common) {
  return plan_of(leaf.point, leaf.estimate.stage_layers, leaf.estimate.recomputed, common);
}

bool may_hold_less(const PlanPoint& point) {
  return point.recompute_fits ||
         (point.cut == kBalancedCut && point.pp > 1 && one_stage_each(point));
}

void refine(const WalkJob& job, OrderCache& orders, Leaf& leaf) {
  ClosedForm closed_form(job.closed_form);
  if (leaf.estimate.stage_layers.empty()) {
    leaf.estimate = closed_form.whole(leaf.point, Duration::max());
  }
  const OrderCache::Entry* entry = orders.find(leaf.point);
  if (entry == nullptr) {
    return;
  }
  const Bytes usable = job.closed_form.capacity + job.closed_form.context;
  const auto in_order = [&](Estimate estimate) {
    const StageCosts stages = closed_form.stage_costs(leaf.point, estimate);
    estimate.bound = bound_by_order(*entry, stages, estimate.bound);
    estimate.fits = estimate.bound.memory <= usable;
    return estimate;
  };
  Estimate estimate = in_order(leaf.estimate);
  if (!estimate.fits && leaf.point.recompute_fits && !one_stage_each(leaf.point)) {
    // The closed form knows too little of what these schedules hold.
    std::int32_t too_few = 0;
    std::int32_t enough = *std::ranges::max_element(estimate.stage_layers);
    estimate = in_order(closed_form.recomputing(leaf.point, leaf.estimate, enough));
    while (estimate.fits && enough - too_few > 1) {
      const std::int32_t middle = (too_few + enough) / 2;
      Estimate tried = in_order(closed_form.recomputing(leaf.point, leaf.estimate, middle));
      if (tried.fits) {
        enough = middle;
        estimate = std::move(tried);
      } else {
        too_few = middle;
      }
    }
  } else if (one_stage_each(leaf.point) && may_hold_less(leaf.point)) {
    estimate.fits = true;
  }
  leaf.estimate = std::move(estimate);
  leaf.value = value_of(job.request->objective,
                        {.step_time = leaf.estimate.bound.time,
                         .memory = leaf.estimate.bound.memory,
                         .devices = leaf.point.devices(),
                         .tokens = tokens_of(job)});
}

Simulated simulate_leaf(const WalkJob& job, const Plan& common, Leaf leaf, TimedLists& timed) {
  ClosedForm::Job room = job.closed_form;
  const Bytes usable = room.capacity + room.context;
  for (int attempt = 0;; ++attempt) {
    Plan plan = complete(leaf, common);
    const auto schedule = lower_to_price(
        *job.closed_form.model, *job.closed_form.cluster, plan, job.request->repeats);
    if (!schedule) {
      return Rejection{std::move(plan), schedule.error().message};
    }
    const Result<Summary>& summary = time_list(job, plan, *schedule, timed);
    if (!summary) {
      return Rejection{std::move(plan), summary.error().message};
    }
    const Bytes peak = summary->peak_memory;
    if (peak <= usable) {
      return candidate_of(job, leaf, std::move(plan), *summary);
    }
    Rejection rejection{std::move(plan), too_much(job, *summary)};
    if (!may_hold_less(leaf.point) || attempt + 1 == kMostCuts) {
      return rejection;
    }
    room.capacity -= std::max(peak - usable, Bytes(1));
    ClosedForm closed_form(room);
    Estimate smaller =
        one_stage_each(leaf.point)
            ? closed_form.whole(leaf.point, Duration::max())
            : closed_form.recomputing(leaf.point,
                                      leaf.estimate,
                                      *std::ranges::max_element(leaf.estimate.recomputed) + 1);
    if (!smaller.fits || (smaller.stage_layers == leaf.estimate.stage_layers &&
                          smaller.recomputed == leaf.estimate.recomputed)) {
      return rejection;
    }
    leaf.estimate = std::move(smaller);
  }
}

Candidate estimated(const WalkJob& job, const Plan& common, const Leaf& leaf) {
  const std::vector<StagePlan> even =
      even_stages(job.space->layers(), leaf.point.stages(), leaf.point.dp, leaf.point.tp);
  std::vector<std::int32_t> layers;
  layers.reserve(even.size());
  for (const StagePlan& stage : even) {
    layers.push_back(stage.layers);
  }
  const double seconds = to_seconds(leaf.estimate.bound.time);
  const double peak = job.peak.count() * static_cast<double>(leaf.point.devices());
  return {.plan = plan_of(leaf.point, layers, {}, common),
          .point = leaf.point,
          .simulated = false,
          .bound = {},
          .step_time = leaf.estimate.bound.time,
          .tokens_per_s = tokens_of(job) / seconds,
          .mfu = peak > 0 ? job.model_flops.count() / (seconds * peak) : 0,
          .peak_memory = leaf.estimate.bound.memory,
          .bubble = 0,
          .objective = leaf.value};
}

Result<Duration> p95_of(const WalkJob& job, const Plan& plan) {
  if (plan.devices() > kMostJitteredDevices) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("the 95th percentile under jitter is found on up to {} devices; the "
                            "plan has {}",
                            kMostJitteredDevices,
                            plan.devices()),
                "--objective");
  }
  const auto schedule =
      lower(*job.closed_form.model, *job.closed_form.cluster, plan, job.request->repeats);
  if (!schedule) {
    return tl::unexpected<Error>(schedule.error());
  }
  const auto events = schedule_events(*schedule, *job.closed_form.cluster, *job.closed_form.cost);
  if (!events) {
    return tl::unexpected<Error>(events.error());
  }
  MonteCarloOptions options;
  options.perturbation.jitter = job.request->objective.jitter;
  options.samples = job.request->objective.samples;
  options.threads = 1;
  return sample_steps(events->graph, options).p95;
}

}  // namespace stagewright
