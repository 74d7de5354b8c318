#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/training/training_setup.h"
#include "sim/cost/step_constants.h"
#include "sim/step/step_time.h"

namespace stagewright {

/// Where the numbers of a term come from.
enum class CostSource : std::uint8_t {
  kDatasheet,   ///< nothing but data sheets and formulas
  kCalibrated,  ///< constants fitted to measured runs
  kDefault,     ///< constants of a class that no measured run has determined
};
[[nodiscard]] std::string_view name_of(CostSource source);

/// One term of a step's time, explained.
struct CostTerm {
  StepTerm term{};
  double seconds = 0;
  double share = 0;
  std::string formula;
  std::string inputs;  ///< with their values
  CostSource source = CostSource::kCalibrated;
  friend bool operator==(const CostTerm&, const CostTerm&) = default;
};

struct CostExplanation {
  StepTime step;
  double low = 0;  ///< seconds, of the 80 % band
  double high = 0;
  std::vector<CostTerm> terms;        ///< largest first; none below a thousandth
  std::vector<std::string> warnings;  ///< what lies outside the calibrated ranges
};

/// REQUIRES: can_price(setup).
[[nodiscard]] CostExplanation explain_costs(const TrainingSetup& setup,
                                            const StepConstants& constants);
[[nodiscard]] std::string to_json_text(const CostExplanation& explanation);

}  // namespace stagewright
