#include "cli/explain_plan.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/explain_plan_report.h"
#include "cli/interrupt.h"
#include "cli/json_text.h"
#include "cli/number_check.h"
#include "cli/path_check.h"
#include "formats/model_file.h"
#include "planner/search/dimension.h"
#include "study/explain_inputs.h"
#include "study/plan_inputs.h"

namespace stagewright {
namespace {

constexpr const char* kUsualFramework = "stagewright";
constexpr double kUsualGap = 0.01;
constexpr std::int64_t kUsualSimulations = 48;

const std::vector<std::string>& sections() {
  static const std::vector<std::string> kSections{
      "limits", "runner-ups", "memory", "what-if", "rules", "next"};
  return kSections;
}

bool asked_for(const ExplainPlanOptions& options, std::string_view section) {
  return options.only.empty() || std::ranges::find(options.only, section) != options.only.end();
}

std::string framework_of(const SetupOptions& setup, const ExplainPlanOptions& options) {
  return options.names_framework ? setup.framework : kUsualFramework;
}

Result<void> read_constraints(const ExplainPlanOptions& options, SearchRequest& request) {
  auto given = parse_constraints(options.given);
  if (!given) {
    given.error().where = "--given";
    return pass_on(std::move(given));
  }
  request.constraints = *std::move(given);
  for (const auto& [name, text] : options.fixed) {
    if (auto done = constrain(request.constraints, name, text); !done) {
      return done;
    }
  }
  return {};
}

/// What is asked about: the job, and the plan where the user has one.
struct Asked {
  ExplainJob job;
  std::optional<Plan> plan;
};

Result<Asked> asked_plan(const DataFiles& files,
                         const SetupOptions& setup,
                         const ExplainPlanOptions& options,
                         std::optional<Profile> profile) {
  auto inputs = load_plan(files, options.plan, setup.model, setup.cluster);
  if (!inputs) {
    return pass_on(std::move(inputs));
  }
  auto job = explain_job(files,
                         std::move(inputs->model),
                         std::move(inputs->cluster),
                         framework_of(setup, options),
                         std::move(profile));
  if (!job) {
    return pass_on(std::move(job));
  }
  const Plan& plan = inputs->plan;
  job->request.global_batch = plan.global_batch();
  job->request.sequence = plan.sequence;
  job->request.precision = plan.precision;
  job->request.optimizer = plan.optimizer;
  return Asked{*std::move(job), std::move(inputs->plan)};
}

/// REQUIRES: model, cluster and batch are named.
Result<Asked> asked_job(const DataFiles& files,
                        const SetupOptions& setup,
                        const ExplainPlanOptions& options,
                        std::optional<Profile> profile) {
  auto model = find_model(files, setup.model);
  if (!model) {
    return pass_on(std::move(model));
  }
  auto cluster = find_cluster(files, setup.cluster);
  if (!cluster) {
    return pass_on(std::move(cluster));
  }
  const bool cpu = cluster->types.front().name == "cpu";
  const auto precision =
      parse_dtype(options.names_precision ? setup.precision : (cpu ? "fp32" : "bf16"));
  if (!precision) {
    return tl::unexpected<Error>(precision.error());
  }
  auto job = explain_job(files,
                         *std::move(model),
                         *std::move(cluster),
                         framework_of(setup, options),
                         std::move(profile));
  if (!job) {
    return pass_on(std::move(job));
  }
  job->request.global_batch = *setup.global_batch;
  job->request.sequence = static_cast<std::int32_t>(
      setup.sequence > 0 ? setup.sequence : job->model.shape.max_sequence);
  job->request.precision.compute = *precision;
  return Asked{*std::move(job), std::nullopt};
}

/// Asks one question after the other.
class Explainer {
 public:
  Explainer(const Context& context,
            const DataFiles& files,
            const ExplainPlanOptions& options,
            std::string framework,
            ExplainJob job)
      : context_(context),
        files_(files),
        options_(options),
        framework_(std::move(framework)),
        job_(std::move(job)) {
    control_.stop = &InterruptGuard::requested();
  }

  [[nodiscard]] Result<PlanAnswers> run(std::optional<Plan> plan) {
    if (!plan) {
      progress("searching for the best plan");
      auto best = best_plan(job_, control_);
      if (!best) {
        return pass_on(std::move(best));
      }
      plan = std::move(best->plan);
    }
    auto priced = price_plan(job_, *plan);
    if (!priced) {
      return tl::unexpected<Error>(in_plan_file(std::move(priced).error(), options_.plan));
    }
    PlanAnswers answers{.model = job_.model, .priced = *std::move(priced)};
    answers.terms = time_terms(answers.priced, job_.model);
    answers.limits = asked_for(options_, "limits");
    answers.memory = asked_for(options_, "memory");
    if (auto done = answer(answers); !done) {
      return pass_on(std::move(done));
    }
    progress("");
    return answers;
  }

 private:
  void progress(const std::string& text) const { context_.progress(text); }

  [[nodiscard]] Result<void> answer(PlanAnswers& answers) {
    const Plan& plan = answers.priced.plan;
    if (asked_for(options_, "runner-ups")) {
      progress("searching for plans that decide otherwise");
      auto others = runner_ups(job_, plan, control_);
      if (!others) {
        return pass_on(std::move(others));
      }
      answers.runner_ups = *std::move(others);
    }
    for (const std::string& wish : options_.why_not) {
      progress("searching for " + wish);
      auto found = why_not(job_, wish, control_);
      if (!found) {
        return pass_on(std::move(found));
      }
      answers.why_not.push_back(*std::move(found));
    }
    if (answers.memory && !answers.priced.summary.fits) {
      progress("trying what would make it fit");
      answers.fixes = memory_fixes(job_, answers.priced, control_);
    }
    if (asked_for(options_, "what-if")) {
      if (auto done = add_what_ifs(answers); !done) {
        return done;
      }
    }
    if (asked_for(options_, "rules")) {
      answers.rules = rules_of_thumb(job_, answers.priced);
    }
    if (asked_for(options_, "next")) {
      return add_next(answers);
    }
    return {};
  }

  [[nodiscard]] Result<void> add_what_ifs(PlanAnswers& answers) {
    std::vector<DeviceType> devices;
    for (const std::string& name : options_.devices) {
      auto device = find_device(files_, name);
      if (!device) {
        return pass_on(std::move(device));
      }
      devices.push_back(*std::move(device));
    }
    if (devices.empty()) {
      if (auto other =
              next_device(files_, job_.cluster.types.front(), job_.request.precision.compute)) {
        devices.push_back(*std::move(other));
      }
    }
    answers.what_if.emplace();
    for (const Scenario& scenario : usual_scenarios(job_, devices)) {
      progress("planning again: " + scenario.name);
      answers.what_if->push_back(what_if(scenario, answers.priced.plan, control_));
    }
    return {};
  }

  [[nodiscard]] Result<void> add_next(PlanAnswers& answers) {
    if (sees_images(job_.model)) {
      return options_.only.empty() ? Result<void>()
                                   : fail(ErrorCode::kUnsupported,
                                          "measurements are proposed for transformers; '" +
                                              job_.model.name + "' is a convolutional network",
                                          "--only");
    }
    const auto setup = setup_of(files_, job_, answers.priced.plan, framework_);
    if (!setup) {
      return tl::unexpected<Error>(setup.error());
    }
    auto next = next_measurements(*setup, job_.request.step_prices->time);
    if (next) {
      answers.next = *std::move(next);
    } else if (!options_.only.empty()) {
      return pass_on(std::move(next));
    }
    return {};
  }

  const Context& context_;
  const DataFiles& files_;
  const ExplainPlanOptions& options_;
  std::string framework_;
  ExplainJob job_;
  SearchControl control_;
};

}  // namespace

void add_explain_plan_options(CLI::App& command, ExplainPlanOptions& options) {
  command.add_option("plan", options.plan, "Plan file; absent: the best plan of a search")
      ->check(path_given);
  command.add_option("--profile", options.profile, "Measured times that go before the cost model")
      ->check(path_given);
  command.add_option("--given",
                     options.given,
                     "What every plan keeps, as constraints: \"tp=8 pp=4..16 schedule=zb-*\"");
  command
      .add_option(
          "--why-not",
          options.why_not,
          "Constraints that the plan does not satisfy (tp=8,pp=4): what the best plan under "
          "them is, or why there is none; may be repeated")
      ->check(value_given)
      ->take_all()
      ->expected(1);
  command.add_option("--device",
                     options.devices,
                     "Device types to ask 'what if' about (default: the next faster one)");
  command.add_option("--only", options.only, fmt::format("{}", fmt::join(sections(), ", ")))
      ->check(CLI::IsMember(sections()))
      ->delimiter(',');
  command.add_option("--time-limit", options.seconds, "Seconds that each search may take")
      ->check(positive_number);
  command.add_option("--threads", options.threads, "Threads (default: all cores)")
      ->check(positive_count);
}

Result<void> read_given_options(const CLI::App& command, ExplainPlanOptions& options) {
  const auto count = [&](const std::string& name) {
    const CLI::Option* const option = command.get_option_no_throw(name);
    return option == nullptr ? 0 : option->count();
  };
  for (const Dimension& dimension : dimensions()) {
    const std::string name = fmt::format("--{}", dimension.name);
    if (count(name) > 0) {
      const CLI::Option* const option = command.get_option_no_throw(name);
      options.fixed[std::string(dimension.name)] =
          option->get_expected_min() == 0 ? "on"
                                          : fmt::format("{}", fmt::join(option->results(), ","));
    }
  }
  options.names_framework = count("--framework") > 0;
  options.names_precision = count("--precision") > 0;
  for (const char* name : {"--attention", "--context", "--sequences"}) {
    if (count(name) > 0) {
      return fail(ErrorCode::kInvalidInput,
                  "says nothing about a plan; it belongs to --memory, --costs or --kv-cache",
                  name);
    }
  }
  for (const char* name : {"--global-batch", "--seq", "--precision"}) {
    if (!options.plan.empty() && count(name) > 0) {
      return fail(ErrorCode::kInvalidInput, "the plan file says that already", name);
    }
  }
  return {};
}

Result<void> check_no_plan_options(const CLI::App& command) {
  for (const char* name : {"plan",
                           "--profile",
                           "--given",
                           "--why-not",
                           "--device",
                           "--only",
                           "--time-limit",
                           "--threads"}) {
    if (const CLI::Option* const option = command.get_option_no_throw(name);
        option != nullptr && option->count() > 0) {
      return fail(ErrorCode::kInvalidInput,
                  "belongs to the explanation of a plan, without --memory, --costs and --kv-cache",
                  name);
    }
  }
  return {};
}

ExitCode explain_plan(const Context& context,
                      const SetupOptions& setup,
                      const ExplainPlanOptions& options) {
  const auto files = context.files();
  if (!files) {
    return context.report(files.error());
  }
  auto profile = load_profile(options.profile);
  if (!profile) {
    return context.report(profile.error());
  }
  auto asked = options.plan.empty() ? asked_job(*files, setup, options, *std::move(profile))
                                    : asked_plan(*files, setup, options, *std::move(profile));
  if (!asked) {
    return context.report(asked.error());
  }
  SearchRequest& request = asked->job.request;
  if (auto read = read_constraints(options, request); !read) {
    return context.report(read.error());
  }
  request.gap = kUsualGap;
  request.most_simulated = kUsualSimulations;
  request.threads = options.threads;
  if (options.seconds > 0) {
    request.seconds = options.seconds;
  }
  const InterruptGuard interrupt;
  Explainer explainer(
      context, *files, options, framework_of(setup, options), std::move(asked->job));
  const auto answers = explainer.run(std::move(asked->plan));
  context.progress("");
  if (!answers) {
    return context.report(answers.error());
  }
  if (context.json) {
    *context.out << json_text(to_json(*answers));
  } else {
    *context.out << to_text(*answers);
  }
  return InterruptGuard::requested() ? ExitCode::kInterrupted : ExitCode::kSuccess;
}

}  // namespace stagewright
