#pragma once

#include "cli/context.h"
#include "cli/setup_options.h"

namespace stagewright {

/// Every term of the step time in closed form, with formula, inputs, source and error band.
[[nodiscard]] ExitCode explain_costs(const Context& context, const SetupOptions& options);

}  // namespace stagewright
