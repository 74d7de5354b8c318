/// Holds predicted step times and memory against measured ones on this machine: two ranks (threads)
/// train a small model by every plan that they can run: each schedule with pp2, and tp2 and dp2,
/// with 1 to 16 micro-batches, with and without recomputation. A profile is taken first, from one
/// number of micro-batches; then every plan runs once per round, so that a change of the machine's
/// mood meets them alike.
///
///   predicted_vs_measured MODEL DATA [--rounds 3] [--steps 12] [--clock wall|virtual] [--json
///   FILE]
///
/// Prints a row per plan: prediction, median over the rounds of each round's median step (after two
/// to warm up, as in the profile: the first ones meet fresh memory and take some 4 % longer), their
/// spread (half the distance of the quartiles over the median), error. Exits with 1 if the median
/// error is beyond 5 % or the 90th percentile beyond 10 % and the 90th percentile of the spreads,
/// or a rank's memory is more than 3 % off. Two ranks that share their cores with something else
/// should be judged by the virtual clock.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/runnable_plans.h"
#include "cli/table.h"
#include "core/base/data_files.h"
#include "core/base/file.h"
#include "core/cluster/cluster.h"
#include "formats/model_file.h"
#include "need.h"
#include "planner/lower/lower.h"
#include "planner/schedules/registry.h"
#include "runtime/profiler/profiler.h"
#include "runtime/trainer/trainer.h"
#include "sim/cost/cost_model.h"
#include "sim/engine/static_pass.h"
#include "timed_plan.h"

namespace stagewright {
namespace {

constexpr double kMedianGoal = 0.05;
constexpr double kTailGoal = 0.10;
constexpr double kMemoryGoal = 0.03;
constexpr std::int32_t kProfiledMicroBatches = 4;

struct Settings {
  std::string model;
  std::string data;
  std::string json;
  std::string clock = "wall";
  std::int32_t rounds = 3;
  std::int32_t steps = 12;
  std::int32_t sequence = 128;
  [[nodiscard]] bool by_virtual_clock() const { return clock == "virtual"; }
};

struct Case : TimedPlan {
  Schedule schedule;
  double memory_error = 0;  ///< of the rank that is most wrong

  [[nodiscard]] double error() const { return to_seconds(predicted) / measured() - 1; }
};

/// How two ranks divide a model.
struct Division {
  std::int32_t dp = 1;
  std::int32_t tp = 1;
  std::int32_t pp = 1;
  std::int32_t virtual_stages = 1;
  std::string schedule = "1f1b";
};

std::vector<Division> divisions() {
  std::vector<Division> result = {{.dp = 2}, {.tp = 2}};
  for (const ScheduleGenerator& generator : schedule_generators()) {
    // Their plans drain the pipeline after every step, which is not what they are for.
    if (!generator.asynchronous && !generator.synthesised) {
      result.push_back({.pp = 2,
                        .virtual_stages = generator.default_virtual_stages,
                        .schedule = std::string(generator.name)});
    }
  }
  return result;
}

std::vector<Case> make_cases(const ModelGraph& model,
                             const Cluster& cluster,
                             const Settings& settings) {
  std::vector<Case> cases;
  for (const Division& division : divisions()) {
    for (const Recompute recompute : {Recompute::kNone, Recompute::kFull}) {
      for (const std::int32_t micro_batches : {1, 2, 4, 8, 16}) {
        Plan plan;
        plan.model = settings.model;
        plan.cluster = cluster.name;
        plan.sequence = settings.sequence;
        plan.micro_batches = micro_batches;
        plan.schedule = division.schedule;
        plan.virtual_stages = division.virtual_stages;
        plan.precision = {.compute = DType::kFloat32};
        plan.stages = even_stages(static_cast<std::int32_t>(model.layers.size()),
                                  division.pp * division.virtual_stages,
                                  division.dp,
                                  division.tp);
        for (StagePlan& stage : plan.stages) {
          stage.recompute = recompute;
        }
        if (auto runs = check_plan_runs(model, cluster, plan); !runs) {
          std::cerr << fmt::format("left out: {}: {}\n", summary(plan), runs.error().to_string());
          continue;
        }
        Schedule schedule = need(lower(model, cluster, plan));
        cases.push_back({{.plan = std::move(plan)}, std::move(schedule)});
      }
    }
  }
  return cases;
}

void predict(std::vector<Case>& cases, const Cluster& cluster, const Settings& settings) {
  std::vector<Schedule> schedules;
  for (const Case& each : cases) {
    if (each.plan.micro_batches == kProfiledMicroBatches) {
      schedules.push_back(each.schedule);
    }
  }
  ProfileOptions options;
  options.virtual_clock = settings.by_virtual_clock();
  const auto cost = make_profiled_cost(need(profile(schedules, options)), make_analytical_cost());
  for (Case& each : cases) {
    each.predicted = need(simulate(each.schedule, cluster, *cost, {})).summary.step_time;
  }
}

/// Adds a round.
void measure(Case& each, const Settings& settings) {
  RunOptions options;
  options.steps = settings.steps;
  options.data = settings.data;
  options.virtual_clock = settings.by_virtual_clock();
  const RunReport report = need(run(each.schedule, options));
  each.rounds.push_back(median_step(report));
  for (std::size_t rank = 0; rank < report.memory.size(); ++rank) {
    const RankProgram& program = each.schedule.programs[each.schedule.ranks[rank].program.index()];
    const auto predicted =
        static_cast<double>(memory_peaks(program, lifetimes(program)).total.count());
    const auto measured = static_cast<double>(report.memory[rank].total.count());
    each.memory_error = std::max(each.memory_error, std::abs(predicted / measured - 1));
  }
}

/// The smallest value that at least `share` of all do not exceed.
double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const double place = std::ceil(share * static_cast<double>(values.size())) - 1;
  return values[static_cast<std::size_t>(std::max(0.0, place))];
}

struct Verdict {
  double median_error = 0;
  double tail_error = 0;
  double tail_spread = 0;
  double memory_error = 0;
  [[nodiscard]] bool holds() const {
    return median_error <= kMedianGoal && tail_error <= std::max(kTailGoal, tail_spread) &&
           memory_error <= kMemoryGoal;
  }
};

Verdict judge(const std::vector<Case>& cases) {
  std::vector<double> errors;
  std::vector<double> spreads;
  Verdict verdict;
  for (const Case& each : cases) {
    errors.push_back(std::abs(each.error()));
    spreads.push_back(each.spread());
    verdict.memory_error = std::max(verdict.memory_error, each.memory_error);
  }
  verdict.median_error = quantile(errors, 0.5);
  verdict.tail_error = quantile(errors, 0.9);
  verdict.tail_spread = quantile(spreads, 0.9);
  return verdict;
}

void print(const std::vector<Case>& cases, const Verdict& verdict, const Settings& settings) {
  Table table({"plan", "predicted", "measured", "repeat spread", "error", "memory error"});
  for (const Case& each : cases) {
    table.add({summary(each.plan),
               to_string(each.predicted),
               to_string(from_seconds(each.measured())),
               percent(each.spread()),
               signed_percent(each.error()),
               percent(each.memory_error)});
  }
  std::cout << table.to_string()
            << fmt::format(
                   "{} plans, {} clock: |error| {} in the median (goal {}), {} at the 90th "
                   "percentile (goal {}, spread there {}); memory within {} (goal {})\n",
                   cases.size(),
                   settings.clock,
                   percent(verdict.median_error),
                   percent(kMedianGoal),
                   percent(verdict.tail_error),
                   percent(kTailGoal),
                   percent(verdict.tail_spread),
                   percent(verdict.memory_error),
                   percent(kMemoryGoal));
}

nlohmann::json to_json(const std::vector<Case>& cases,
                       const Verdict& verdict,
                       const Settings& settings) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Case& each : cases) {
    rows.push_back({{"plan", summary(each.plan)},
                    {"predicted_s", to_seconds(each.predicted)},
                    {"measured_s", each.measured()},
                    {"repeat_spread", each.spread()},
                    {"error", each.error()},
                    {"memory_error", each.memory_error}});
  }
  return {{"clock", settings.clock},
          {"rounds", settings.rounds},
          {"median_error", verdict.median_error},
          {"p90_error", verdict.tail_error},
          {"p90_spread", verdict.tail_spread},
          {"memory_error", verdict.memory_error},
          {"within_goals", verdict.holds()},
          {"plans", std::move(rows)}};
}

int run_benchmark(const Settings& settings) {
  const DataFiles files = DataFiles::embedded();
  const ModelGraph model = need(find_model(files, settings.model));
  const Cluster cluster = need(find_cluster(files, "1x2xcpu"));
  std::vector<Case> cases = make_cases(model, cluster, settings);
  predict(cases, cluster, settings);
  for (std::int32_t round = 0; round < settings.rounds; ++round) {
    for (Case& each : cases) {
      measure(each, settings);
    }
  }
  const Verdict verdict = judge(cases);
  print(cases, verdict, settings);
  if (!settings.json.empty()) {
    need(write_file(settings.json, to_json(cases, verdict, settings).dump(2) + "\n"));
  }
  return verdict.holds() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace stagewright

int main(int count, char** values) {
  stagewright::Settings settings;
  CLI::App app("Predicted against measured step times of two ranks on this machine");
  app.add_option("model", settings.model, "Model file")->required();
  app.add_option("data", settings.data, "Training text")->required();
  app.add_option("--rounds", settings.rounds)->check(CLI::PositiveNumber);
  app.add_option("--steps", settings.steps)
      ->check(CLI::Range(stagewright::ProfileOptions{}.warm_up + 1, 1000000));
  app.add_option("--seq", settings.sequence)->check(CLI::PositiveNumber);
  app.add_option("--clock", settings.clock)->check(CLI::IsMember({"wall", "virtual"}));
  app.add_option("--json", settings.json, "Also write the rows here");
  CLI11_PARSE(app, count, values);
  return stagewright::run_benchmark(settings);
}
