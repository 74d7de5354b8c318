#include "gui/models/draft_costs.h"

#include <optional>

#include "core/base/data_files.h"

namespace stagewright::gui {

Result<std::shared_ptr<const CostModel>> DraftCosts::of(const PlanInputs& inputs) {
  const std::lock_guard lock(mutex_);
  // What prices depend on besides model and cluster; see make_cost().
  if (cost_ && precision_ == inputs.plan.precision && micro_batches_ == inputs.plan.micro_batches) {
    return cost_;
  }
  auto files = profiles_.empty() ? Result<DataFiles>(DataFiles::embedded())
                                 : DataFiles::with_overrides(profiles_);
  if (!files) {
    return pass_on(std::move(files));
  }
  auto cost =
      make_cost(*files, inputs.model, inputs.cluster, inputs.plan, "stagewright", std::nullopt);
  if (!cost) {
    return pass_on(std::move(cost));
  }
  cost_ = *std::move(cost);
  precision_ = inputs.plan.precision;
  micro_batches_ = inputs.plan.micro_batches;
  return cost_;
}

}  // namespace stagewright::gui
