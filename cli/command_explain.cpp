#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/explain_memory.h"
#include "cli/number_check.h"
#include "cli/setup_options.h"

namespace stagewright {

void add_explain_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "explain", "Say where the memory of a training run, or of serving the model, goes");
  const std::shared_ptr<SetupOptions> options = add_setup_options(*command);
  auto memory = std::make_shared<bool>(false);
  auto cache = std::make_shared<bool>(false);
  auto serving = std::make_shared<ServingOptions>();
  CLI::Option* const memory_flag = command->add_flag(
      "--memory", *memory, "By component and stage: allocated, reserved, as nvidia-smi shows");
  command
      ->add_flag("--kv-cache", *cache, "Of serving: weights, key-value cache, sequences that fit")
      ->excludes(memory_flag);
  command->add_option("--context", serving->context_tokens, "With --kv-cache: tokens of a sequence")
      ->check(positive_count);
  command->add_option("--sequences", serving->sequences, "With --kv-cache: sequences at once")
      ->check(positive_count);
  command->callback([options, memory, cache, serving, &chosen] {
    if (!*memory && !*cache) {
      throw CLI::RequiredError("--memory or --kv-cache");
    }
    chosen = [options, cache, serving](const Context& context) {
      return *cache ? explain_cache(context, *options, *serving)
                    : explain_memory(context, *options);
    };
  });
}

}  // namespace stagewright
