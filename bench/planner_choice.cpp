/// Holds the planner's choice against the machine: every plan that the search knows for a small
/// model on this machine's cores, and that can run, trains for some steps in interleaved rounds, so
/// that a change of the machine's mood meets them alike; the plan that `stagewright plan` names
/// first should be as fast as the fastest of them.
///
///   planner_choice MODEL DATA PROFILE [--ranks 2] [--batch 4] [--seq 64] [--rounds 3] [--steps 6]
///                  [--every 1] [--clock wall|virtual] [--json FILE]
///
/// PROFILE comes from `stagewright profile` with as many ranks.  With --every N, only the hundred
/// plans that are predicted fastest all run, and of the others every Nth.
///
/// Prints what the choice costs over the best measured plan, and the rank correlation of predicted
/// and measured times over all plans.  Exits with 1 where the choice is slower than the best one by
/// more than 3 % and by more than the spread of repeats (half the distance of the quartiles over
/// the median, 90th percentile of all plans).
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
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
#include "planner/search/search.h"
#include "runtime/profiler/profiler.h"
#include "runtime/trainer/trainer.h"
#include "sim/cost/cost_model.h"
#include "study/plan_inputs.h"
#include "study/statistics.h"
#include "timed_plan.h"

namespace stagewright {
namespace {

constexpr double kGoal = 0.03;
/// So many of the plans predicted fastest always run.
constexpr std::size_t kAlwaysRun = 100;
constexpr std::int32_t kAllPlans = 1'000'000;

struct Settings {
  std::string model;
  std::string data;
  std::string profile;
  std::string json;
  std::string clock = "wall";
  std::int32_t ranks = 2;
  std::int32_t batch = 4;
  std::int32_t sequence = 64;
  std::int32_t rounds = 3;
  std::int32_t steps = 6;
  std::size_t every = 1;
  [[nodiscard]] bool by_virtual_clock() const { return clock == "virtual"; }
};

SearchRequest request_of(const Settings& settings) {
  SearchRequest request;
  request.global_batch = settings.batch;
  request.sequence = settings.sequence;
  request.precision = {.compute = DType::kFloat32};
  return request;
}

/// What the search names first with the settings that `stagewright plan` has by default.
Plan choice(const ModelGraph& model,
            const Cluster& cluster,
            const CostModel& cost,
            const Settings& settings) {
  SearchRequest request = request_of(settings);
  request.gap = 0.01;
  request.most_simulated = 48;
  return need(search(model, cluster, cost, request)).plans.front().plan;
}

/// All plans of the space that run here, fastest predicted first, and among them the choice.
std::vector<TimedPlan> make_cases(const ModelGraph& model,
                                  const Cluster& cluster,
                                  const CostModel& cost,
                                  const Plan& chosen,
                                  const Settings& settings) {
  SearchRequest request = request_of(settings);
  request.keep = kAllPlans;
  const SearchResult all = need(search(model, cluster, cost, request));
  std::vector<TimedPlan> cases;
  std::size_t refused = 0;
  for (std::size_t i = 0; i < all.plans.size(); ++i) {
    const Candidate& candidate = all.plans[i];
    if (candidate.plan != chosen && i >= kAlwaysRun && i % settings.every != 0) {
      continue;
    }
    if (check_plan_runs(model, cluster, candidate.plan)) {
      cases.push_back({candidate.plan, candidate.step_time, {}});
    } else {
      ++refused;
    }
  }
  std::cerr << fmt::format("{} points, {} plans, {} of them run here, {} cannot\n",
                           all.space.size,
                           all.plans.size(),
                           cases.size(),
                           refused);
  return cases;
}

/// Adds a round.
void measure(TimedPlan& each, const Schedule& schedule, const Settings& settings) {
  RunOptions options;
  options.steps = settings.steps;
  options.data = settings.data;
  options.virtual_clock = settings.by_virtual_clock();
  each.rounds.push_back(median_step(need(run(schedule, options))));
}

struct Verdict {
  std::size_t chosen = 0;   ///< index of the planner's choice
  std::size_t fastest = 0;  ///< index of the best measured plan
  double cost = 0;          ///< of the choice over the best one, as a share
  double spread = 0;        ///< of repeats, 90th percentile
  double correlation = 0;
  [[nodiscard]] bool holds() const { return cost <= std::max(kGoal, spread); }
};

Verdict judge(const std::vector<TimedPlan>& cases, const Plan& chosen) {
  Verdict verdict;
  verdict.chosen =
      static_cast<std::size_t>(std::ranges::find(cases, chosen, &TimedPlan::plan) - cases.begin());
  if (verdict.chosen == cases.size()) {
    std::cerr << fmt::format("error: the plan named first is not among those that run: {}\n",
                             summary(chosen));
    std::exit(EXIT_FAILURE);
  }
  std::vector<double> predicted;
  std::vector<double> measured;
  std::vector<double> spreads;
  for (const TimedPlan& each : cases) {
    predicted.push_back(to_seconds(each.predicted));
    measured.push_back(each.measured());
    spreads.push_back(each.spread());
  }
  verdict.fastest = static_cast<std::size_t>(std::ranges::min_element(measured) - measured.begin());
  verdict.cost = measured[verdict.chosen] / measured[verdict.fastest] - 1;
  std::ranges::sort(spreads);
  verdict.spread = spreads[(spreads.size() * 9 - 1) / 10];
  verdict.correlation = rank_correlation(predicted, measured);
  return verdict;
}

void print(const std::vector<TimedPlan>& cases, const Verdict& verdict, const Settings& settings) {
  Table table({"", "plan", "predicted", "measured", "repeat spread"});
  const auto add = [&](const std::string& what, std::size_t index) {
    const TimedPlan& each = cases[index];
    table.add({what,
               summary(each.plan),
               to_string(each.predicted),
               to_string(from_seconds(each.measured())),
               percent(each.spread())});
  };
  add("planner's choice", verdict.chosen);
  add("best measured", verdict.fastest);
  std::cout << table.to_string()
            << fmt::format(
                   "{} plans on {} ranks, {} clock: the choice costs {} over the best measured "
                   "(goal {}, spread of repeats {}); rank correlation {:.3f}\n",
                   cases.size(),
                   settings.ranks,
                   settings.clock,
                   percent(verdict.cost),
                   percent(kGoal),
                   percent(verdict.spread),
                   verdict.correlation);
}

nlohmann::json to_json(const std::vector<TimedPlan>& cases,
                       const Verdict& verdict,
                       const Settings& settings) {
  nlohmann::json rows = nlohmann::json::array();
  for (const TimedPlan& each : cases) {
    rows.push_back({{"plan", summary(each.plan)},
                    {"predicted_s", to_seconds(each.predicted)},
                    {"measured_s", each.measured()},
                    {"repeat_spread", each.spread()}});
  }
  return {{"ranks", settings.ranks},
          {"clock", settings.clock},
          {"rounds", settings.rounds},
          {"choice", verdict.chosen},
          {"fastest", verdict.fastest},
          {"cost_of_choice", verdict.cost},
          {"p90_spread", verdict.spread},
          {"rank_correlation", verdict.correlation},
          {"within_goal", verdict.holds()},
          {"plans", std::move(rows)}};
}

int run_benchmark(const Settings& settings) {
  const DataFiles files = DataFiles::embedded();
  const ModelGraph model = need(find_model(files, settings.model));
  const Cluster cluster = need(find_cluster(files, fmt::format("1x{}xcpu", settings.ranks)));
  const auto cost =
      make_profiled_cost(*need(load_profile(settings.profile)), make_analytical_cost());
  const Plan chosen = choice(model, cluster, *cost, settings);
  std::vector<TimedPlan> cases = make_cases(model, cluster, *cost, chosen, settings);
  for (std::int32_t round = 0; round < settings.rounds; ++round) {
    for (TimedPlan& each : cases) {
      measure(each, need(lower(model, cluster, each.plan)), settings);
    }
    std::cerr << fmt::format("round {} of {}\n", round + 1, settings.rounds);
  }
  const Verdict verdict = judge(cases, chosen);
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
  CLI::App app("The planner's choice against every plan that runs on this machine");
  app.add_option("model", settings.model, "Model file")->required();
  app.add_option("data", settings.data, "Training text")->required();
  app.add_option("profile", settings.profile, "Profile of the model")->required();
  app.add_option("--ranks", settings.ranks)->check(CLI::PositiveNumber);
  app.add_option("--batch", settings.batch)->check(CLI::PositiveNumber);
  app.add_option("--seq", settings.sequence)->check(CLI::PositiveNumber);
  app.add_option("--rounds", settings.rounds)->check(CLI::PositiveNumber);
  app.add_option("--steps", settings.steps)
      ->check(CLI::Range(stagewright::ProfileOptions{}.warm_up + 1, 1000000));
  app.add_option("--every", settings.every)->check(CLI::PositiveNumber);
  app.add_option("--clock", settings.clock)->check(CLI::IsMember({"wall", "virtual"}));
  app.add_option("--json", settings.json, "Also write all plans here");
  CLI11_PARSE(app, count, values);
  return stagewright::run_benchmark(settings);
}
