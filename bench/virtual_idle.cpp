/// Idle share of every rank of a pipeline of four by the virtual clock, beside the simulated one:
/// GPipe and 1F1B with 4 and 8 micro-batches, priced by thread times that were measured with
/// another number of micro-batches. Needs no core per rank, nor a quiet machine.
///
///   virtual_idle MODEL DATA [--steps 8] [--json FILE]
///
/// Exits with 1 where they differ by more than 3 points.
#include <algorithm>
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
#include "need.h"
#include "planner/lower/lower.h"
#include "runtime/profiler/profiler.h"
#include "runtime/trainer/trainer.h"
#include "sim/analysis/order_statistics.h"
#include "sim/analysis/summary.h"
#include "sim/analysis/trace_figures.h"
#include "sim/cost/cost_model.h"
#include "sim/engine/static_pass.h"

namespace stagewright {
namespace {

constexpr double kGoal = 0.03;
constexpr std::int32_t kRanks = 4;

struct Settings {
  std::string model;
  std::string data;
  std::string json;
  std::int32_t steps = 8;
  std::int32_t sequence = 128;
};

Schedule pipeline(const ModelGraph& model,
                  const Cluster& cluster,
                  const std::string& schedule,
                  std::int32_t micro_batches,
                  const Settings& settings) {
  Plan plan;
  plan.model = settings.model;
  plan.cluster = cluster.name;
  plan.sequence = settings.sequence;
  plan.micro_batches = micro_batches;
  plan.schedule = schedule;
  plan.precision = {.compute = DType::kFloat32};
  plan.stages = even_stages(static_cast<std::int32_t>(model.layers.size()), kRanks, 1, 1);
  return need(lower(model, cluster, plan));
}

/// Of every rank: the part of the step in which none of its operations computes.
std::vector<double> idle_shares(const Trace& trace) {
  const Duration step = median(counted_step_times(trace));
  std::vector<double> shares;
  for (const auto& [rank, figures] : rank_figures(trace)) {
    shares.push_back(bubble_share(figures.computing, step));
  }
  return shares;
}

int compare(const Settings& settings) {
  const DataFiles files = DataFiles::embedded();
  const ModelGraph model = need(find_model(files, settings.model));
  const Cluster cluster = need(find_cluster(files, fmt::format("1x{}xcpu", kRanks)));
  ProfileOptions profile_options;
  profile_options.virtual_clock = true;
  const std::vector<Schedule> profiled = {pipeline(model, cluster, "1f1b", 6, settings)};
  const auto cost =
      make_profiled_cost(need(profile(profiled, profile_options)), make_analytical_cost());

  Table table({"schedule", "micro-batches", "rank", "simulated idle", "measured idle", "points"});
  nlohmann::json rows = nlohmann::json::array();
  double largest = 0;
  for (const std::string schedule : {"gpipe", "1f1b"}) {
    for (const std::int32_t micro_batches : {4, 8}) {
      const Schedule list = pipeline(model, cluster, schedule, micro_batches, settings);
      const Trace simulated =
          need(simulate(list,
                        cluster,
                        *cost,
                        {.trace = TraceDetail::kOperations, .trace_all_ranks = true}))
              .trace;
      RunOptions options;
      options.steps = settings.steps;
      options.data = settings.data;
      options.virtual_clock = true;
      const Trace measured = *need(run(list, options)).virtual_trace;
      const std::vector<double> simulated_idle = idle_shares(simulated);
      const std::vector<double> measured_idle = idle_shares(measured);
      for (std::size_t rank = 0; rank < measured_idle.size(); ++rank) {
        const double expected = simulated_idle[rank];
        const double seen = measured_idle[rank];
        largest = std::max(largest, std::abs(expected - seen));
        table.add({schedule,
                   fmt::format("{}", micro_batches),
                   fmt::format("{}", rank),
                   percent(expected),
                   percent(seen),
                   fmt::format("{:+.1f}", 100 * (expected - seen))});
        rows.push_back({{"schedule", schedule},
                        {"micro_batches", micro_batches},
                        {"rank", rank},
                        {"simulated", expected},
                        {"measured", seen}});
      }
    }
  }
  std::cout << table.to_string()
            << fmt::format("virtual clock: within {:.1f} points (goal 3)\n", 100 * largest);
  if (!settings.json.empty()) {
    const nlohmann::json json = {
        {"clock", "virtual"}, {"largest_difference", largest}, {"ranks", std::move(rows)}};
    need(write_file(settings.json, json.dump(2) + "\n"));
  }
  return largest <= kGoal ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace stagewright

int main(int count, char** values) {
  stagewright::Settings settings;
  CLI::App app("Idle shares by the virtual clock beside simulated ones");
  app.add_option("model", settings.model, "Model file")->required();
  app.add_option("data", settings.data, "Training text")->required();
  app.add_option("--steps", settings.steps)->check(CLI::Range(2, 1000000));
  app.add_option("--seq", settings.sequence)->check(CLI::PositiveNumber);
  app.add_option("--json", settings.json);
  CLI11_PARSE(app, count, values);
  return stagewright::compare(settings);
}
