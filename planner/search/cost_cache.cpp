#include "planner/search/cost_cache.h"

#include "planner/lower/check_plan.h"

namespace stagewright {

CostCache::Key CostCache::key_of(const PlanPoint& point,
                                 std::int64_t tensor_place,
                                 Recompute recompute) {
  return {point.tp,
          tensor_place,
          point.sequence_parallel,
          point.micro_batch_size,
          recompute,
          point.short_transfers};
}

namespace {

/// The entry of a key, made by `make` where it is the first to ask for it.
template <class Entries, class Key, class Make>
const auto& find_or_make(std::mutex& mutex, Entries& entries, const Key& key, const Make& make) {
  typename Entries::mapped_type::element_type* entry = nullptr;
  {
    const std::lock_guard lock(mutex);
    auto& held = entries[key];
    if (!held) {
      held = std::make_unique<typename Entries::mapped_type::element_type>();
    }
    entry = held.get();
  }
  std::call_once(entry->once, [&] { entry->made.emplace(make()); });
  return *entry->made;
}

}  // namespace

const Result<LayerCosts>& CostCache::find(const PlanPoint& point, const Key& key) {
  return find_or_make(mutex_, costs_, key, [&] { return make(point, key); });
}

Result<LayerCosts> CostCache::make(const PlanPoint& point, const Key& key) {
  Plan shape = common_;
  shape.micro_batch_size = point.micro_batch_size;
  shape.sequence_parallel = point.sequence_parallel;
  if (point.short_transfers) {
    shape.precision.transfer = DType::kBFloat16;
  }
  shape.stages = {StagePlan{.tp = point.tp, .recompute = std::get<Recompute>(key)}};
  Key anywhere = key;
  std::get<std::int64_t>(anywhere) = 0;
  const Result<LayerExamples>& examples = find_or_make(mutex_, examples_, anywhere, [&] {
    return layer_examples(distinct_, cluster_, cost_, shape);
  });
  if (!examples) {
    return tl::unexpected<Error>(examples.error());
  }
  std::optional<GroupGeometry> tensor;
  if (point.tp > 1) {
    tensor = places_.straddles(point) ? places_.straddling(point.tp)
                                      : places_.group(point.tp, strides_of(point).tensor);
  }
  return layer_costs(model_, distinct_, *examples, cost_, shape, tensor);
}

}  // namespace stagewright
