#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "planner/schedules/synthesis/order_clock.h"

namespace stagewright::synthesis {

/// A place in a rank's list.
struct ListPlace {
  std::size_t rank = 0;
  std::size_t index = 0;
};

/// Finds where an order loses time.
class CriticalSteps {
 public:
  explicit CriticalSteps(const StepTable& table) : table_(table) {}

  /// The steps of one longest chain that end without a pause before the next of the same rank:
  /// only by reordering these can the chain get shorter.  `clock` holds the ends of `lists`; where
  /// several chains are as long, `engine` chooses.
  const std::vector<ListPlace>& find(const StepLists& lists,
                                     const OrderClock& clock,
                                     std::mt19937& engine);

 private:
  void index_places(const StepLists& lists);
  [[nodiscard]] ListPlace last_step(const StepLists& lists,
                                    const OrderClock& clock,
                                    std::mt19937& engine) const;

  const StepTable& table_;
  std::vector<ListPlace> places_;  ///< by slot
  std::vector<ListPlace> found_;
};

}  // namespace stagewright::synthesis
