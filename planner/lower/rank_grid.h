#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/plan/plan.h"
#include "core/schedule/pipeline_order.h"

namespace stagewright {

/// Where a rank stands on each axis.
struct RankCoordinates {
  std::int32_t tensor = 0;
  std::int32_t context = 0;
  std::int32_t data = 0;
  std::int32_t pipeline = 0;
  friend bool operator==(const RankCoordinates&, const RankCoordinates&) = default;
};

/// The ranks of a run as a grid: tensor x context x data x pipeline.
struct RankGrid {
  RankCoordinates size;           ///< degrees
  RankCoordinates stride;         ///< distance of neighbours along each axis
  std::vector<DeviceId> devices;  ///< by rank
  friend bool operator==(const RankGrid&, const RankGrid&) = default;

  [[nodiscard]] std::int32_t ranks() const {
    return size.tensor * size.context * size.data * size.pipeline;
  }
  [[nodiscard]] RankId rank(const RankCoordinates& at) const {
    return RankId(at.tensor * stride.tensor + at.context * stride.context + at.data * stride.data +
                  at.pipeline * stride.pipeline);
  }
  [[nodiscard]] RankCoordinates coordinates(RankId rank) const {
    return {.tensor = rank.value() / stride.tensor % size.tensor,
            .context = rank.value() / stride.context % size.context,
            .data = rank.value() / stride.data % size.data,
            .pipeline = rank.value() / stride.pipeline % size.pipeline};
  }
};

/// Pass: numbers the ranks by Plan::rank_order and gives each a device: the one of its own number,
/// or the one that its stage lists.  REQUIRES: check_plan has passed; `order` is the plan's.
/// Fails where the stages of one pipeline rank list different devices.
[[nodiscard]] Result<RankGrid> place_ranks(const Plan& plan, const PipelineOrder& order);

}  // namespace stagewright
