#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/base/units.h"
#include "core/cluster/cluster.h"
#include "core/profile/profile.h"
#include "core/schedule/schedule.h"
#include "sim/cost/execution_rules.h"

namespace stagewright {

/// Where a price comes from, best first.
enum class PriceSource : std::uint8_t {
  kMeasured,      ///< a profile covers it
  kExtrapolated,  ///< a profile, beyond its measured range
  kLearned,       ///< a regression on measured shapes of the device (learned_kernels.h)
  kAnalytical,    ///< the model, from data sheets and calibrated efficiencies
};

struct Price {
  Duration time{};
  PriceSource source = PriceSource::kAnalytical;
  friend bool operator==(const Price&, const Price&) = default;
};

/// Where the members of a group (or the two ends of a transfer) sit, and who shares their ports.
/// Everything about a group that its price depends on: equal geometry, equal price.
struct GroupGeometry {
  std::int32_t members = 1;
  std::int32_t nodes = 1;             ///< that the group spans
  std::int32_t members_per_node = 1;  ///< largest number on one node
  /// Groups of the same kind that are active at once on the busiest node's outgoing ports, for
  /// certain, by geometry: they share its NICs.
  std::int32_t groups_per_node = 1;
  LinkSpec intra_node;
  LinkSpec inter_node;
  friend bool operator==(const GroupGeometry&, const GroupGeometry&) = default;
};

/// Geometry of a group given by the devices of its members, `concurrent` being the groups of the
/// same kind (this one among them).
[[nodiscard]] GroupGeometry geometry_of(const Cluster& cluster,
                                        std::span<const DeviceId> members,
                                        std::span<const std::vector<DeviceId>> concurrent);

/// Prices operations.  Thread-safe; does not know what a plan is.
class CostModel {
 public:
  CostModel() = default;
  CostModel(const CostModel&) = delete;
  CostModel& operator=(const CostModel&) = delete;
  virtual ~CostModel() = default;

  /// A compute operation alone on a device.  REQUIRES: not a collective.
  [[nodiscard]] virtual Price operation(const Operation& op, const DeviceType& device) const = 0;
  /// A run of operations as a whole, where a measurement covers exactly that run.
  [[nodiscard]] virtual std::optional<Price> segment(std::span<const Operation> ops,
                                                     const DeviceType& device) const = 0;
  /// A collective, all members ready.
  [[nodiscard]] virtual Price collective(const Operation& op, const GroupGeometry& group) const = 0;
  /// A message between two ranks, both ready.
  [[nodiscard]] virtual Price transfer(Bytes size, const GroupGeometry& ends) const = 0;
  /// Time that the host takes to issue the operation's kernels: a layer's pass lasts at least the
  /// sum of these.
  [[nodiscard]] virtual Duration issue(const Operation& op, const DeviceType& device) const;
  [[nodiscard]] virtual ExecutionRules rules(const DeviceType& device) const;
};

/// Roofline with efficiencies from the device file; alpha-beta links.
[[nodiscard]] std::unique_ptr<CostModel> make_analytical_cost();
/// Measured where `profile` covers it, else `fallback`.
[[nodiscard]] std::unique_ptr<CostModel> make_profiled_cost(Profile profile,
                                                            std::unique_ptr<CostModel> fallback);

}  // namespace stagewright
