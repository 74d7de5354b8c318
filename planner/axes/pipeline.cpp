#include "planner/axes/pipeline.h"

#include <algorithm>

#include "core/base/check.h"

namespace stagewright {
namespace {

template <class T>
void insert_sorted(std::vector<T>& sorted, T value) {
  const auto place = std::lower_bound(sorted.begin(), sorted.end(), value);
  if (place == sorted.end() || *place != value) {
    sorted.insert(place, value);
  }
}

}  // namespace

bool PipelineAxis::hands_over(StageId stage) const {
  return std::binary_search(handed_over.begin(), handed_over.end(), stage);
}

PeerSlot PipelineAxis::slot_of(std::int32_t peer) const {
  const auto place = std::lower_bound(peers.begin(), peers.end(), peer);
  SW_CHECK(place != peers.end() && *place == peer, "a neighbouring pipeline rank");
  return PeerSlot(static_cast<std::size_t>(place - peers.begin()));
}

std::int32_t pipeline_rank_of(const PipelineOrder& order, StageId stage, MicroBatchId micro_batch) {
  const std::int32_t copy = order.copy_of.empty() ? 0 : order.copy_of[micro_batch.index()];
  return order.placement[static_cast<std::size_t>(copy)][stage.index()];
}

std::vector<PipelineAxis> pipeline_axes(const PipelineOrder& order) {
  std::vector<PipelineAxis> axes(order.ranks.size());
  for (std::size_t rank = 0; rank < axes.size(); ++rank) {
    axes[rank].rank = static_cast<std::int32_t>(rank);
  }
  const auto axis = [&axes](std::int32_t rank) -> PipelineAxis& {
    return axes[static_cast<std::size_t>(rank)];
  };
  for (const std::vector<std::int32_t>& copy : order.placement) {
    for (std::size_t stage = 0; stage < copy.size(); ++stage) {
      insert_sorted(axis(copy[stage]).stages, StageId(stage));
      if (stage + 1 == copy.size()) {
        continue;
      }
      if (copy[stage] == copy[stage + 1]) {
        insert_sorted(axis(copy[stage]).handed_over, StageId(stage));
      } else {
        insert_sorted(axis(copy[stage]).peers, copy[stage + 1]);
        insert_sorted(axis(copy[stage + 1]).peers, copy[stage]);
      }
    }
  }
  return axes;
}

}  // namespace stagewright
