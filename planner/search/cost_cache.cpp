#include "planner/search/cost_cache.h"

#include "planner/lower/check_plan.h"

namespace stagewright {

const Result<LayerCosts>& CostCache::find(const PlanPoint& point, Recompute recompute) {
  const Key key{point.tp,
                places_.tensor_place(point),
                point.sequence_parallel,
                point.micro_batch_size,
                recompute,
                point.short_transfers};
  Entry* entry = nullptr;
  {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Entry>& held = entries_[key];
    if (!held) {
      held = std::make_unique<Entry>();
    }
    entry = held.get();
  }
  std::call_once(entry->once, [&] { entry->costs.emplace(make(point, recompute)); });
  return *entry->costs;
}

Result<LayerCosts> CostCache::make(const PlanPoint& point, Recompute recompute) const {
  Plan shape = common_;
  shape.micro_batch_size = point.micro_batch_size;
  shape.sequence_parallel = point.sequence_parallel;
  if (point.short_transfers) {
    shape.precision.transfer = DType::kBFloat16;
  }
  shape.stages = {StagePlan{.tp = point.tp, .recompute = recompute}};
  if (point.tp == 1) {
    return layer_costs(model_, cluster_, cost_, shape);
  }
  const GroupGeometry tensor = places_.straddles(point)
                                   ? places_.straddling(point.tp)
                                   : places_.group(point.tp, strides_of(point).tensor);
  return layer_costs(model_, cluster_, cost_, shape, tensor);
}

}  // namespace stagewright
