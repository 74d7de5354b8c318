#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/schedule/token_list.h"
#include "sim/analysis/order_check.h"

namespace CLI {
class App;
}  // namespace CLI

namespace stagewright {

/// The options of bare costs, in any unit of time: `--costs F=1,I=1,W=1,B=2,R=1`, `--transfer`,
/// `--scale-stage last=1.5` and `--overlap`.
struct CostOptions {
  std::string costs;  ///< what it leaves out: F = 1; I and W each F, or half of a B alone;
                      ///< B = I + W; R = F
  double transfer = 0;
  std::vector<std::string> scaled_stages;  ///< "STAGE=FACTOR", or "last=FACTOR"
  double overlap = 1;

  /// Whether any of them was given.
  [[nodiscard]] bool any() const {
    return !costs.empty() || transfer != 0 || !scaled_stages.empty() || overlap != 1;
  }
};
void add_cost_options(CLI::App& command, CostOptions& options);

/// Costs for a list, with what a duration is worth in the user's unit.
struct ListPrices {
  PipelineCosts costs;
  double unit_seconds = 1;  ///< of simulated time per unit of the user's
  std::string text;         ///< "F=1, I=1, W=1, B=2, R=1, transfer 0", for people

  [[nodiscard]] double in_units(Duration time) const { return to_seconds(time) / unit_seconds; }
};
/// Fails with kInvalidInput, naming the option and its value.
[[nodiscard]] Result<ListPrices> prices_for(const CostOptions& options, const TokenList& list);
/// For a list that is still to be made, of about so many actions.
[[nodiscard]] Result<ListPrices> prices_for(const CostOptions& options,
                                            std::int32_t stages,
                                            double actions);

}  // namespace stagewright
