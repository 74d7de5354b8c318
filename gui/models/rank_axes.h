#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/schedule/schedule.h"
#include "gui/models/action_store.h"

namespace stagewright::gui {

/// One way to say where a rank stands: a name ("data", "tensor", "stage", "node") and a number for
/// every rank.
struct RankAxis {
  std::string name;
  std::vector<std::int32_t> position;  ///< by rank
  friend bool operator==(const RankAxis&, const RankAxis&) = default;
};
using RankAxes = std::vector<RankAxis>;

/// What can be told from the actions alone: the lowest stage that a rank computes.  Nothing where
/// all ranks share it.
[[nodiscard]] RankAxes axes_of(const ActionStore& store);

/// And from the schedule: for every kind of group the rank's position in its group of that kind,
/// and the node of its device.  Axes along which all ranks stand at 0 are left out.
[[nodiscard]] RankAxes axes_of(const ActionStore& store,
                               const Schedule& schedule,
                               const Cluster& cluster);

}  // namespace stagewright::gui
