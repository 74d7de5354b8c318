#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/schedule_costs.h"
#include "sim/analysis/order_check.h"

namespace stagewright {

/// "zb.csv: 2 ranks, 4 stages, 1 micro-batch".
[[nodiscard]] std::string sizes_text(const std::string& name,
                                     std::size_t ranks,
                                     std::int32_t stages,
                                     std::int32_t micro_batches);

/// A line each.
[[nodiscard]] std::string warnings_text(const std::vector<std::string>& warnings);

/// What is known of a list, as `schedules check --json` prints it: "valid", "error", "makespan",
/// "bubble", "bubble_rate", "span_bubble_rate", "idle_share", "peak_F_to_B", "peak_F_to_W",
/// "queues" and "runs".
[[nodiscard]] nlohmann::json to_json(const OrderCheck& check, const ListPrices& prices);

/// The same keys for a list that has no figures.
[[nodiscard]] nlohmann::json invalid_list_json(const std::string& error);

/// The same as tables.
[[nodiscard]] std::string to_text(const OrderCheck& check, const ListPrices& prices);

}  // namespace stagewright
