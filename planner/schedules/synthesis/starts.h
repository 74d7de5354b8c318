#pragma once

#include <string>
#include <vector>

#include "planner/schedules/synthesis/order_clock.h"
#include "planner/schedules/synthesis/replay.h"

namespace stagewright::synthesis {

/// A candidate order and where it comes from.
struct StartOrder {
  std::string name;
  StepLists lists;
};

/// The named schedules of one copy of the weights that have the table's placement, with backwards
/// split and as they are: above the caps, too.
[[nodiscard]] std::vector<StartOrder> preset_orders(const StepTable& table);

/// One micro-batch after the other: what needs the least memory.
[[nodiscard]] StepLists serial_order(const StepTable& table);

/// The starts of an order's forwards and backwards, whatever it holds.  REQUIRES: an order whose
/// ranks do not wait for each other for ever.
[[nodiscard]] VirtualTimes times_of(const StepTable& table, const StepLists& lists);

}  // namespace stagewright::synthesis
