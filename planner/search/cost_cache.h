#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include "core/cluster/cluster.h"
#include "planner/search/group_places.h"
#include "planner/search/layer_costs.h"
#include "planner/search/layer_examples.h"
#include "planner/search/plan_point.h"

namespace stagewright {

/// Layer costs of a search, each worked out once.  For several threads at once.
class CostCache {
 public:
  /// Everything must outlive this object.  `common`: common_plan().
  CostCache(const ModelGraph& model,
            const Cluster& cluster,
            const CostModel& cost,
            const Plan& common,
            const GroupPlaces& places)
      : model_(model),
        distinct_(example_layers(model)),
        cluster_(cluster),
        cost_(cost),
        common_(common),
        places_(places) {}

  /// Tensor degree and place, sequence parallelism, micro-batch size, recomputation, precision of
  /// transfers.
  using Key = std::tuple<std::int32_t, std::int64_t, bool, std::int32_t, Recompute, bool>;
  /// `tensor_place`: GroupPlaces', of the point.
  [[nodiscard]] static Key key_of(const PlanPoint& point,
                                  std::int64_t tensor_place,
                                  Recompute recompute);
  /// For the point's tensor degree, micro-batch size and placement, with the key's recomputation.
  /// Fails as layer_costs() does.  Stays where it is.
  [[nodiscard]] const Result<LayerCosts>& find(const PlanPoint& point, const Key& key);

 private:
  template <class T>
  struct Once {
    std::once_flag once;
    std::optional<Result<T>> made;
  };
  template <class T>
  using ByKey = std::map<Key, std::unique_ptr<Once<T>>>;

  [[nodiscard]] Result<LayerCosts> make(const PlanPoint& point, const Key& key);

  const ModelGraph& model_;
  const DistinctLayers distinct_;
  const Cluster& cluster_;
  const CostModel& cost_;
  const Plan& common_;
  const GroupPlaces& places_;
  std::mutex mutex_;
  ByKey<LayerCosts> costs_;
  ByKey<LayerExamples> examples_;  ///< whatever the place
};

}  // namespace stagewright
