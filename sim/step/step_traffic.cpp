#include "sim/step/step_traffic.h"

#include <algorithm>

#include "sim/cost/analytical_links.h"

namespace stagewright {

GroupGeometry strided_group(const TrainingSetup& setup,
                            const StepConstants& constants,
                            std::int64_t members,
                            std::int64_t stride) {
  const std::int64_t domain = setup.domain;
  GroupGeometry group;
  group.members = static_cast<std::int32_t>(members);
  const std::int64_t inside = std::clamp<std::int64_t>(domain / stride, 1, members);
  group.members_per_node = static_cast<std::int32_t>(inside);
  group.nodes = static_cast<std::int32_t>((members + inside - 1) / inside);
  group.groups_per_node =
      group.nodes > 1 ? static_cast<std::int32_t>(std::max<std::int64_t>(
                            1, std::min<std::int64_t>(domain, setup.run.devices()) / inside))
                      : 1;
  group.intra_node = setup.intra_node;
  group.inter_node = setup.inter_node;
  group.inter_node.efficiency = constants[StepConstant::kNicShare];
  return group;
}

double message_seconds(double bytes,
                       const TrainingSetup& setup,
                       const StepConstants& constants,
                       std::int64_t distance) {
  GroupGeometry ends = strided_group(setup, constants, 2, distance);
  return to_seconds(transfer_time(Bytes(static_cast<std::int64_t>(bytes)), ends));
}

}  // namespace stagewright
