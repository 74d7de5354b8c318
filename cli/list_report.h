#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/schedule_costs.h"
#include "sim/analysis/order_check.h"

namespace stagewright {

/// What is known of a list, as `schedules check --json` prints it: "valid", "error", "makespan",
/// "bubble_rate", "span_bubble_rate", "idle_share", "peak_F_to_B", "peak_F_to_W", "queues" and
/// "runs".
[[nodiscard]] nlohmann::json to_json(const OrderCheck& check, const ListPrices& prices);

/// The same as tables.
[[nodiscard]] std::string to_text(const OrderCheck& check, const ListPrices& prices);

}  // namespace stagewright
