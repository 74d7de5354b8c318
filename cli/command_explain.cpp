#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/explain_costs.h"
#include "cli/explain_memory.h"
#include "cli/number_check.h"
#include "cli/setup_options.h"

namespace stagewright {

void add_explain_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "explain",
      "Say where the time and the memory of a training run, or of serving the model, go");
  const std::shared_ptr<SetupOptions> options = add_setup_options(*command);
  auto memory = std::make_shared<bool>(false);
  auto cache = std::make_shared<bool>(false);
  auto costs = std::make_shared<bool>(false);
  auto serving = std::make_shared<ServingOptions>();
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
  command->callback([options, memory, cache, costs, serving, &chosen] {
    if (!*memory && !*cache && !*costs) {
      throw CLI::RequiredError("--costs, --memory or --kv-cache");
    }
    chosen = [options, cache, costs, serving](const Context& context) {
      if (*costs) {
        return explain_costs(context, *options);
      }
      return *cache ? explain_cache(context, *options, *serving)
                    : explain_memory(context, *options);
    };
  });
}

}  // namespace stagewright
