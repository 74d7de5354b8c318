#pragma once

#include "cli/context.h"
#include "cli/setup_options.h"

namespace stagewright {

/// What one device of each pipeline rank holds, by component, and whether it fits.
[[nodiscard]] ExitCode explain_memory(const Context& context, const SetupOptions& options);

/// What serving requests takes instead: weights, key-value cache, and how many sequences fit.
struct ServingOptions {
  std::int64_t context_tokens = 0;
  std::int64_t sequences = 1;
};
[[nodiscard]] ExitCode explain_cache(const Context& context,
                                     const SetupOptions& options,
                                     const ServingOptions& serving);

}  // namespace stagewright
