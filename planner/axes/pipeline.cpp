#include "planner/axes/pipeline.h"

#include <algorithm>

#include "core/base/check.h"

namespace stagewright {
namespace {

void insert_sorted(std::vector<std::int32_t>& ranks, std::int32_t rank) {
  const auto place = std::lower_bound(ranks.begin(), ranks.end(), rank);
  if (place == ranks.end() || *place != rank) {
    ranks.insert(place, rank);
  }
}

}  // namespace

bool PipelineAxis::holds(StageId stage) const {
  return std::binary_search(stages.begin(), stages.end(), stage);
}

PeerSlot PipelineAxis::slot_of(std::int32_t peer) const {
  const auto place = std::lower_bound(peers.begin(), peers.end(), peer);
  SW_CHECK(place != peers.end() && *place == peer, "a neighbouring pipeline rank");
  return PeerSlot(static_cast<std::size_t>(place - peers.begin()));
}

std::int32_t pipeline_rank_of(const PipelineOrder& order, StageId stage) {
  SW_CHECK(order.placement.size() == 1, "one copy of each stage");
  return order.placement.front()[stage.index()];
}

std::vector<PipelineAxis> pipeline_axes(const PipelineOrder& order) {
  std::vector<PipelineAxis> axes(order.ranks.size());
  for (std::size_t rank = 0; rank < axes.size(); ++rank) {
    axes[rank].rank = static_cast<std::int32_t>(rank);
  }
  for (std::int32_t stage = 0; stage < order.stages; ++stage) {
    const std::int32_t here = pipeline_rank_of(order, StageId(stage));
    axes[static_cast<std::size_t>(here)].stages.push_back(StageId(stage));
    if (stage + 1 < order.stages) {
      const std::int32_t next = pipeline_rank_of(order, StageId(stage + 1));
      if (next != here) {
        insert_sorted(axes[static_cast<std::size_t>(here)].peers, next);
        insert_sorted(axes[static_cast<std::size_t>(next)].peers, here);
      }
    }
  }
  return axes;
}

}  // namespace stagewright
