// The planner's best plan is the best of all plans: held against an enumeration that knows nothing
// of the planner's dimensions, on random small jobs priced by the same simulator.

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "planner/lower/lower.h"
#include "planner/schedules/registry.h"
#include "planner/search/search.h"
#include "sim/cost/calibrated_cost.h"
#include "sim/engine/static_pass.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

constexpr unsigned kSeed = 20260;
// Sanitizers take twenty times as long for each; what they look for shows in a part of the jobs.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kJobs = 100;
#else
constexpr int kJobs = 500;
#endif

/// What a random job leaves open.
struct Allowed {
  std::vector<std::int32_t> tp;
  std::vector<std::int32_t> pp;
  std::vector<std::int32_t> dp;
  std::vector<std::int32_t> micro_batch;
  std::vector<std::int32_t> virtual_stages;
  std::vector<std::string> schedules;
  std::vector<Recompute> recompute;
  std::vector<std::int32_t> zero;
};

class RandomJob {
 public:
  explicit RandomJob(std::mt19937& random) : random_(random) {
    static constexpr std::array kClusters{
        "1x4xcpu", "1x8xh100-sxm", "2x4xa100-80gb-sxm", "4x4xh100-sxm", "2x2xv100-32gb"};
    cluster_name = kClusters[number(0, kClusters.size() - 1)];
    blocks = static_cast<std::int64_t>(number(1, 6));
    llama = number(0, 1) == 1;
    batch = static_cast<std::int32_t>(std::size_t{1} << number(1, 4));
    allowed.tp = some<std::int32_t>({1, 2, 4}, 2);
    allowed.pp = some<std::int32_t>({1, 2, 3, 4}, 2);
    allowed.dp = some<std::int32_t>({1, 2, 4}, 2);
    allowed.micro_batch = some<std::int32_t>({1, 2, 4}, 1);
    allowed.virtual_stages = some<std::int32_t>({1, 2}, 1);
    allowed.schedules = some<std::string>({"1f1b",
                                           "gpipe",
                                           "eager-1f1b",
                                           "interleaved-1f1b",
                                           "looped-bfs",
                                           "zb-h1",
                                           "zb-h1-quick-start",
                                           "zb-h2",
                                           "interleaved-zero-bubble",
                                           "zb-v",
                                           "v-half",
                                           "hanayo",
                                           "dualpipe",
                                           "dualpipe-v",
                                           "chimera"},
                                          2);
    allowed.recompute =
        some<Recompute>({Recompute::kNone, Recompute::kSelective, Recompute::kFull}, 1);
    allowed.zero = some<std::int32_t>({0, 1, 2, 3}, 1);
  }

  std::string cluster_name;
  std::int64_t blocks = 1;
  bool llama = false;
  std::int32_t batch = 1;
  Allowed allowed;

 private:
  std::size_t number(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random_);
  }
  template <class T>
  std::vector<T> some(std::vector<T> all, std::size_t most) {
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(number(1, std::min(most, all.size())));
    std::sort(all.begin(), all.end());
    return all;
  }

  std::mt19937& random_;
};

/// Every way to write `layers` as an ordered sum of `parts` positive numbers.
void compositions(std::int32_t layers,
                  std::int32_t parts,
                  std::vector<std::int32_t>& begun,
                  std::vector<std::vector<std::int32_t>>& out) {
  if (parts == 1) {
    begun.push_back(layers);
    out.push_back(begun);
    begun.pop_back();
    return;
  }
  for (std::int32_t own = 1; own <= layers - (parts - 1); ++own) {
    begun.push_back(own);
    compositions(layers - own, parts - 1, begun, out);
    begun.pop_back();
  }
}

class BruteForce {
 public:
  BruteForce(const RandomJob& job,
             const ModelGraph& model,
             const Cluster& cluster,
             const CostModel& cost)
      : job_(job), model_(model), cluster_(cluster), cost_(cost) {}

  std::optional<Duration> run() {
    const Allowed& allowed = job_.allowed;
    for (const std::int32_t tp : allowed.tp) {
      for (const std::int32_t pp : allowed.pp) {
        for (const std::int32_t dp : allowed.dp) {
          for (const std::int32_t size : allowed.micro_batch) {
            if (job_.batch % (dp * size) == 0) {
              try_shapes(tp, pp, dp, size);
            }
          }
        }
      }
    }
    return best_;
  }
  [[nodiscard]] int plans() const { return plans_; }

 private:
  void try_shapes(std::int32_t tp, std::int32_t pp, std::int32_t dp, std::int32_t size) {
    const auto layers = static_cast<std::int32_t>(model_.layers.size());
    for (const std::int32_t stages : job_.allowed.virtual_stages) {
      if (pp * stages > layers || (pp == 1 && stages > 1)) {
        continue;
      }
      std::vector<std::vector<std::int32_t>> cuts;
      std::vector<std::int32_t> begun;
      compositions(layers, pp * stages, begun, cuts);
      for (const std::vector<std::int32_t>& cut : cuts) {
        Plan plan;
        plan.model = model_.name;
        plan.cluster = cluster_.name;
        plan.sequence = 8;
        plan.precision.compute = DType::kFloat32;
        plan.micro_batch_size = size;
        plan.micro_batches = job_.batch / dp / size;
        plan.virtual_stages = stages;
        std::int32_t first = 0;
        for (const std::int32_t own : cut) {
          plan.stages.push_back({.first_layer = first, .layers = own, .dp = dp, .tp = tp});
          first += own;
        }
        try_choices(plan, dp);
      }
    }
  }

  void try_choices(Plan plan, std::int32_t dp) {
    for (const std::string& schedule : job_.allowed.schedules) {
      for (const Recompute recompute : job_.allowed.recompute) {
        for (const std::int32_t zero : job_.allowed.zero) {
          if (zero > 0 && dp == 1) {
            continue;
          }
          plan.schedule = schedule;
          plan.zero_stage = zero;
          for (StagePlan& stage : plan.stages) {
            stage.recompute = recompute;
          }
          for (const bool divided : {false, true}) {
            plan.sequence_parallel = divided;
            if (!divided || plan.stages.front().tp > 1) {
              try_plan(plan);
            }
          }
        }
      }
    }
  }

  void try_plan(const Plan& plan) {
    const auto schedule = lower(model_, cluster_, plan);
    if (!schedule) {
      return;
    }
    const auto simulation = simulate(*schedule, cluster_, cost_, {.trace = TraceDetail::kNone});
    if (!simulation || !simulation->summary.fits) {
      return;
    }
    ++plans_;
    if (!best_ || simulation->summary.step_time < *best_) {
      best_ = simulation->summary.step_time;
    }
  }

  const RandomJob& job_;
  const ModelGraph& model_;
  const Cluster& cluster_;
  const CostModel& cost_;
  std::optional<Duration> best_;
  int plans_ = 0;
};

SearchRequest request_of(const RandomJob& job) {
  SearchRequest request;
  request.global_batch = job.batch;
  request.sequence = 8;
  request.precision.compute = DType::kFloat32;
  request.keep = 1;
  request.threads = 1;
  request.every_cut_up_to = 1000;
  std::vector<std::string_view> recompute;
  for (const Recompute one : job.allowed.recompute) {
    recompute.push_back(name_of(one));
  }
  const Allowed& allowed = job.allowed;
  const auto fix = [&](const char* name, const std::string& values) {
    ASSERT_TRUE(constrain(request.constraints, name, values).has_value()) << name << values;
  };
  fix("tp", fmt::format("{}", fmt::join(allowed.tp, ",")));
  fix("pp", fmt::format("{}", fmt::join(allowed.pp, ",")));
  fix("dp", fmt::format("{}", fmt::join(allowed.dp, ",")));
  fix("micro-batch", fmt::format("{}", fmt::join(allowed.micro_batch, ",")));
  fix("virtual-stages", fmt::format("{}", fmt::join(allowed.virtual_stages, ",")));
  fix("schedule", fmt::format("{}", fmt::join(allowed.schedules, ",")));
  fix("recompute", fmt::format("{}", fmt::join(recompute, ",")));
  fix("zero", fmt::format("{}", fmt::join(allowed.zero, ",")));
  fix("bucket", "0");
  fix("rank-order", "tp-cp-dp-pp");
  return request;
}

TEST(OptimalPlan, EqualsAnEnumerationOfAllPlansOnRandomJobs) {
  const DataFiles files = DataFiles::embedded();
  const auto cost = make_calibrated_cost(load_step_constants(files).value(),
                                         find_framework(files, "stagewright").value());
  std::mt19937 random(kSeed);
  int solved = 0;
  std::int64_t plans = 0;
  std::int64_t simulated = 0;
  for (int trial = 0; solved < kJobs; ++trial) {
    ASSERT_LT(trial, 20 * kJobs);
    const RandomJob job(random);
    const ModelGraph model = job.llama ? tiny_llama(job.blocks) : tiny_gpt(job.blocks);
    const Cluster cluster = find_cluster(files, job.cluster_name).value();
    BruteForce all(job, model, cluster, *cost);
    const auto expected = all.run();
    const auto found = search(model, cluster, *cost, request_of(job));
    ASSERT_EQ(found.has_value(), expected.has_value())
        << "trial " << trial << (found ? "" : found.error().to_string());
    if (!expected) {
      continue;
    }
    ++solved;
    plans += all.plans();
    simulated += found->simulated;
    ASSERT_EQ(found->plans.front().step_time, *expected)
        << "trial " << trial << ": " << summary(found->plans.front().plan);
    ASSERT_EQ(found->gap, 0);
  }
  // It has something to choose from, and does not simply try everything.
  EXPECT_GT(plans, 10 * kJobs);
  EXPECT_LT(simulated, plans / 2);
}

}  // namespace
}  // namespace stagewright
