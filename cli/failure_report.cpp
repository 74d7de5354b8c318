#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/number_check.h"
#include "cli/path_check.h"
#include "cli/simulate_report.h"
#include "cli/table.h"
#include "core/base/mean_time.h"
#include "sim/analysis/goodput.h"

namespace stagewright {
namespace {

/// What is left of a long run's time when it fails now and then.
class FailureReport final : public SimulateReport {
 public:
  void add_options(CLI::App& command) override {
    const auto add = [&command](const char* name, auto& value, const char* text) {
      return command.add_option(name, value, text)->group("Failures");
    };
    CLI::Option* job = add("--mtbf", mtbf_, "Mean time between failures of the whole job (5h)")
                           ->check(value_given);
    add("--node-mtbf", node_mtbf_, "The same of one node (264d); divided by the plan's nodes")
        ->check(value_given)
        ->excludes(job);
    add("--checkpoint-time", checkpoint_, "That a checkpoint holds training up (30s)")
        ->check(value_given);
    add("--restart-time", restart_, "From a failure until training goes on (5min)")
        ->check(value_given);
    add("--checkpoint-interval", interval_, "Steps between checkpoints (default: Daly's optimum)")
        ->check(positive_count);
    CLI::Option* repair = add("--repair-time", repair_, "Until a failed node is a spare one (2h)")
                              ->check(value_given);
    // Without repairs a failed node is never missed.
    add("--spare-nodes", spares_, "That may take the place of failed ones (with --repair-time)")
        ->check(non_negative_count)
        ->needs(repair);
    add("--failures", failures_, "Also simulate a run with so many failures")
        ->check(positive_count);
  }

  [[nodiscard]] Result<void> check() const override {
    const bool others = !checkpoint_.empty() || !restart_.empty() || interval_ > 0 ||
                        !repair_.empty() || failures_ > 0;
    if (others && mtbf_.empty() && node_mtbf_.empty()) {
      return fail(ErrorCode::kInvalidInput,
                  "checkpoints and restarts need to know how often the run fails; give --mtbf or "
                  "--node-mtbf");
    }
    return {};
  }

  [[nodiscard]] Result<void> write(const Context& /*context*/,
                                   const SimulatedStep& step,
                                   nlohmann::json& json,
                                   std::string& text) const override {
    if (mtbf_.empty() && node_mtbf_.empty()) {
      return {};
    }
    if (!step.plan) {
      return fail(ErrorCode::kInvalidInput,
                  "a bare schedule's costs have no unit of time; give a plan",
                  mtbf_.empty() ? "--node-mtbf" : "--mtbf");
    }
    const auto model = model_of(*step.plan);
    if (!model) {
      return tl::unexpected<Error>(model.error());
    }
    const auto expected = expected_goodput(*model);
    if (!expected) {
      return tl::unexpected<Error>(expected.error());
    }
    json["goodput"] = to_json(*expected);
    text += "\n" + to_text(*model, *expected, *step.plan);
    if (failures_ > 0) {
      constexpr std::uint64_t kSeed = 1;
      const auto simulated = simulated_goodput(*model, failures_, kSeed);
      if (!simulated) {
        return tl::unexpected<Error>(simulated.error());
      }
      json["simulated_goodput"] = to_json(*simulated);
      text += fmt::format(
          "simulated over {} failures: {} goodput\n", failures_, percent(simulated->useful));
    }
    return {};
  }

 private:
  static Result<Duration> read(const char* option, const std::string& text) {
    if (text.empty()) {
      return Duration{};
    }
    auto time = parse_duration(text);
    if (!time) {
      return fail(time.error().code, time.error().message, option);
    }
    return time;
  }

  [[nodiscard]] Result<FailureModel> model_of(const SimulatedPlan& plan) const {
    FailureModel model;
    const bool of_job = !mtbf_.empty();
    const auto mean = parse_mean_time(of_job ? mtbf_ : node_mtbf_);
    if (!mean) {
      return fail(mean.error().code, mean.error().message, of_job ? "--mtbf" : "--node-mtbf");
    }
    model.mtbf = of_job ? *mean : *mean / nodes_of(plan);
    const std::pair<const char*, std::pair<const std::string&, Duration&>> times[] = {
        {"--checkpoint-time", {checkpoint_, model.checkpoint_time}},
        {"--restart-time", {restart_, model.restart_time}},
        {"--repair-time", {repair_, model.repair_time}}};
    for (const auto& [option, value] : times) {
      auto time = read(option, value.first);
      if (!time) {
        return pass_on(std::move(time));
      }
      value.second = *time;
    }
    model.step_time = plan.summary.step_time;
    if (interval_ > 0) {
      model.interval_steps = interval_;
    }
    model.spare_nodes = spares_;
    return model;
  }

  /// Nodes that the plan's ranks lie on.
  static double nodes_of(const SimulatedPlan& plan) {
    const std::vector<NodeId> node_of = plan.inputs.cluster.node_table();
    std::set<NodeId> nodes;
    for (const RankBinding& rank : plan.schedule.ranks) {
      nodes.insert(node_of[rank.device.index()]);
    }
    return static_cast<double>(nodes.size());
  }

  static nlohmann::json to_json(const Goodput& goodput) {
    return {{"goodput", goodput.useful},
            {"checkpoint", goodput.checkpoint},
            {"lost", goodput.lost},
            {"restart", goodput.restart},
            {"no_spare", goodput.no_spare},
            {"failures_per_day", goodput.failures_per_day},
            {"interval_steps", goodput.interval_steps},
            {"interval_s", to_seconds(goodput.interval)}};
  }

  static std::string to_text(const FailureModel& model,
                             const Goodput& goodput,
                             const SimulatedPlan& plan) {
    return fmt::format(
        "a failure every {}, a checkpoint every {} steps ({}): goodput {}, {} tokens/s\n"
        "the rest: checkpoints {}, work lost {}, restarts {}, waiting for a node {}\n",
        to_string(model.mtbf),
        goodput.interval_steps,
        to_string(goodput.interval),
        percent(goodput.useful),
        count_text(plan.summary.tokens_per_second * goodput.useful),
        percent(goodput.checkpoint),
        percent(goodput.lost),
        percent(goodput.restart),
        percent(goodput.no_spare));
  }

  std::string mtbf_;
  std::string node_mtbf_;
  std::string checkpoint_;
  std::string restart_;
  std::int32_t interval_ = 0;  ///< none given
  std::int32_t spares_ = 0;
  std::string repair_;
  std::int32_t failures_ = 0;  ///< none to simulate
};

}  // namespace

std::unique_ptr<SimulateReport> make_failure_report() {
  return std::make_unique<FailureReport>();
}

}  // namespace stagewright
