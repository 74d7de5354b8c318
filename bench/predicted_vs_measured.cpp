/// Holds predicted step times against measured ones on this machine: two ranks (threads) train a
/// small GPT with pp2, tp2 and dp2, each with 4 and 8 micro-batches. All plans are profiled first;
/// then every plan runs once per round, so that a change of the machine's mood meets them alike.
///
///   predicted_vs_measured MODEL DATA [--rounds 5] [--steps 8] [--json FILE]
///
/// Prints a row per plan: prediction, median over the rounds of each round's median step,
/// their spread (half the distance of the quartiles over the median), error. Exits with 1 if an
/// error is beyond 15 %.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/table.h"
#include "core/base/data_files.h"
#include "core/base/file.h"
#include "core/cluster/cluster.h"
#include "formats/model_file.h"
#include "planner/lower/lower.h"
#include "runtime/profiler/profiler.h"
#include "runtime/trainer/trainer.h"
#include "sim/analysis/order_statistics.h"
#include "sim/cost/cost_model.h"
#include "sim/engine/static_pass.h"

namespace stagewright {
namespace {

struct Settings {
  std::string model;
  std::string data;
  std::string json;
  std::int32_t rounds = 5;
  std::int32_t steps = 8;
  std::int32_t sequence = 128;
};

struct Case {
  Plan plan;
  Schedule schedule;
  Duration predicted{};
  std::vector<Duration> rounds;
};

/// Ends the program with the message of a failed step.
template <class T>
T need(Result<T> result) {
  if (!result) {
    std::cerr << "error: " << result.error().to_string() << "\n";
    std::exit(1);
  }
  return std::move(*result);
}

std::vector<Case> make_cases(const ModelGraph& model,
                             const Cluster& cluster,
                             const Settings& settings) {
  struct Degree {
    std::int32_t dp, tp, pp;
  };
  std::vector<Case> cases;
  for (const Degree degree : {Degree{1, 1, 2}, Degree{1, 2, 1}, Degree{2, 1, 1}}) {
    for (const std::int32_t micro_batches : {4, 8}) {
      Plan plan;
      plan.model = settings.model;
      plan.cluster = cluster.name;
      plan.sequence = settings.sequence;
      plan.micro_batches = micro_batches;
      plan.precision = {.compute = DType::kFloat32};
      plan.stages = even_stages(
          static_cast<std::int32_t>(model.layers.size()), degree.pp, degree.dp, degree.tp);
      Schedule schedule = need(lower(model, cluster, plan));
      cases.push_back({std::move(plan), std::move(schedule), {}, {}});
    }
  }
  return cases;
}

void predict(std::vector<Case>& cases, const Cluster& cluster) {
  std::vector<Schedule> schedules;
  for (const Case& each : cases) {
    schedules.push_back(each.schedule);
  }
  const auto cost =
      make_profiled_cost(need(profile(schedules, ProfileOptions{})), make_analytical_cost());
  for (Case& each : cases) {
    each.predicted = need(simulate(each.schedule, cluster, *cost, {})).summary.step_time;
  }
}

Duration measure(const Case& each, const Settings& settings) {
  RunOptions options;
  options.steps = settings.steps;
  options.data = settings.data;
  const RunReport report = need(run(each.schedule, options));
  const auto& times = report.trace.step_times;
  return median({times.begin() + 1, times.end()});
}

/// Prints the table; whether every error is within its limit.
bool report(const std::vector<Case>& cases, const Settings& settings) {
  Table table({"plan", "predicted", "measured", "repeat spread", "error", "within"});
  nlohmann::json rows = nlohmann::json::array();
  bool all_within = true;
  for (const Case& each : cases) {
    const double measured = to_seconds(median(each.rounds));
    const double spread = to_seconds(half_quartile_distance(each.rounds)) / measured;
    const double error = to_seconds(each.predicted) / measured - 1;
    const bool within = std::abs(error) <= 0.15;
    all_within = all_within && within;
    table.add({summary(each.plan),
               to_string(each.predicted),
               to_string(from_seconds(measured)),
               percent(spread),
               signed_percent(error),
               within ? "yes" : "no"});
    rows.push_back({{"plan", summary(each.plan)},
                    {"predicted_s", to_seconds(each.predicted)},
                    {"measured_s", measured},
                    {"repeat_spread", spread},
                    {"error", error}});
  }
  std::cout << table.to_string();
  if (!settings.json.empty()) {
    if (auto written = write_file(settings.json, rows.dump(2) + "\n"); !written) {
      std::cerr << "error: " << written.error().to_string() << "\n";
      return false;
    }
  }
  return all_within;
}

int run_benchmark(const Settings& settings) {
  const DataFiles files = DataFiles::embedded();
  const ModelGraph model = need(find_model(files, settings.model));
  const Cluster cluster = need(find_cluster(files, "1x2xcpu"));
  std::vector<Case> cases = make_cases(model, cluster, settings);
  predict(cases, cluster);
  for (std::int32_t round = 0; round < settings.rounds; ++round) {
    for (Case& each : cases) {
      each.rounds.push_back(measure(each, settings));
    }
  }
  return report(cases, settings) ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace stagewright

int main(int count, char** values) {
  stagewright::Settings settings;
  CLI::App app("Predicted against measured step times of two ranks on this machine");
  app.add_option("model", settings.model, "Model file")->required();
  app.add_option("data", settings.data, "Training text")->required();
  app.add_option("--rounds", settings.rounds)->check(CLI::PositiveNumber);
  app.add_option("--steps", settings.steps)->check(CLI::Range(2, 1000000));
  app.add_option("--seq", settings.sequence)->check(CLI::PositiveNumber);
  app.add_option("--json", settings.json, "Also write the rows here");
  CLI11_PARSE(app, count, values);
  return stagewright::run_benchmark(settings);
}
