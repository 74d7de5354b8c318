#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/explain_costs.h"
#include "cli/explain_memory.h"
#include "cli/explain_plan.h"
#include "cli/number_check.h"
#include "cli/setup_options.h"

namespace stagewright {

void add_explain_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("explain",
                                         "Say why a plan is as it is, what limits it and what "
                                         "would help; where the time and the memory "
                                         "of a training run, or of serving the model, go");
  const std::shared_ptr<SetupOptions> options = add_setup_options(*command);
  auto memory = std::make_shared<bool>(false);
  auto cache = std::make_shared<bool>(false);
  auto costs = std::make_shared<bool>(false);
  auto serving = std::make_shared<ServingOptions>();
  auto plan = std::make_shared<ExplainPlanOptions>();
  add_explain_plan_options(*command, *plan);
  CLI::Option* const memory_flag = command->add_flag(
      "--memory", *memory, "By component and stage: allocated, reserved, as nvidia-smi shows");
  command
      ->add_flag(
          "--costs", *costs, "Every term of the step time: formula, inputs, source, error band")
      ->excludes(memory_flag);
  command
      ->add_flag("--kv-cache", *cache, "Of serving: weights, key-value cache, sequences that fit")
      ->excludes(memory_flag);
  command->add_option("--context", serving->context_tokens, "With --kv-cache: tokens of a sequence")
      ->check(positive_count);
  command->add_option("--sequences", serving->sequences, "With --kv-cache: sequences at once")
      ->check(positive_count);
  command->callback([command, options, memory, cache, costs, serving, plan, &chosen] {
    if (!*memory && !*cache && !*costs) {
      if (plan->plan.empty() &&
          (options->model.empty() || options->cluster.empty() || !options->global_batch)) {
        throw CLI::RequiredError(
            "a plan file, or --model, --cluster and --global-batch, or one of --costs, --memory "
            "and "
            "--kv-cache");
      }
      chosen = [command, options, plan](const Context& context) {
        const auto read = read_given_options(*command, *plan);
        return read ? explain_plan(context, *options, *plan) : context.report(read.error());
      };
      return;
    }
    chosen = [command, options, cache, costs, serving](const Context& context) {
      if (const auto fitting = check_no_plan_options(*command); !fitting) {
        return context.report(fitting.error());
      }
      if (*costs) {
        return explain_costs(context, *options);
      }
      return *cache ? explain_cache(context, *options, *serving)
                    : explain_memory(context, *options);
    };
  });
}

}  // namespace stagewright
