#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "core/plan/plan.h"
#include "sim/cost/cost_model.h"
#include "study/plan_inputs.h"

namespace stagewright::gui {

/// Prices of one plan while it is changed: made anew only for a change that they depend on.  May be
/// used by several threads.
class DraftCosts {
 public:
  /// `profiles`: folder over the embedded data; empty: none.
  explicit DraftCosts(std::string profiles) : profiles_(std::move(profiles)) {}

  /// REQUIRES: the same model and cluster in every call.
  [[nodiscard]] Result<std::shared_ptr<const CostModel>> of(const PlanInputs& inputs);

 private:
  std::string profiles_;
  std::mutex mutex_;
  std::shared_ptr<const CostModel> cost_;
  PrecisionPlan precision_;  ///< of cost_, as the next
  std::int32_t micro_batches_ = 0;
};

}  // namespace stagewright::gui
