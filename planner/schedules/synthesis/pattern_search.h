#pragma once

#include <cstdint>
#include <random>

#include "planner/schedules/synthesis/best_orders.h"

namespace stagewright::synthesis {

/// Replays the first patterns, at most `replays` of them, then as many neighbours of the best ones,
/// and offers all that they give.  Ends early once an order takes no longer than `good_enough`.
void search_patterns(const StepTable& table,
                     std::int32_t replays,
                     std::int64_t good_enough,
                     std::mt19937& engine,
                     BestOrders& best_orders);

/// Replays the best candidate's own times with single stages' forwards or backwards moved for all
/// micro-batches alike.
void search_offsets(const StepTable& table,
                    std::int32_t replays,
                    std::int64_t good_enough,
                    std::mt19937& engine,
                    BestOrders& best_orders);

}  // namespace stagewright::synthesis
