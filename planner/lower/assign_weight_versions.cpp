#include "planner/lower/assign_weight_versions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace stagewright {
namespace {

/// Follows the list of one stage.  Weights are numbered by the updates that made them.
class StageWalk {
 public:
  explicit StageWalk(const WeightUpdates& updates) : updates_(updates) {}

  /// The weights that an action uses.
  std::int32_t weights_of(const Action& action) {
    const std::int32_t m = action.micro_batch.value();
    const auto [found, is_new] = under_way_.try_emplace(
        action.micro_batch, updates_.one_behind ? m / updates_.every - 1 : updated_);
    return found->second;
  }

  /// Whether an update follows the action.
  bool update_follows(const Action& action) {
    if (!completes_gradients(action.kind)) {
      return false;
    }
    under_way_.erase(action.micro_batch);
    if (++done_ % updates_.every != 0) {
      return false;
    }
    std::int32_t oldest = updated_ + 1;
    for (const auto& [micro_batch, weights] : under_way_) {
      oldest = std::min(oldest, weights);
    }
    at_once_ = std::max(at_once_, updated_ + 2 - oldest);
    ++updated_;
    return true;
  }

  [[nodiscard]] std::int32_t updated() const { return updated_; }
  /// Versions that there must be room for.
  [[nodiscard]] std::int32_t at_once() const { return at_once_; }
  [[nodiscard]] bool is_whole() const { return done_ % updates_.every == 0; }

 private:
  WeightUpdates updates_;
  std::int32_t updated_ = 0;
  std::int32_t done_ = 0;
  std::int32_t at_once_ = 1;
  std::map<MicroBatchId, std::int32_t> under_way_;
};

/// An action, and the weights that it uses or makes.
struct Numbered {
  Action action;
  std::int32_t weights = 0;
  std::int32_t updated = 0;  ///< newest weights at that moment
};

Action update_behind(const Action& action) {
  return {.kind = ActionKind::kUpdateParameters,
          .stage = action.stage,
          .micro_batch = action.micro_batch};
}

std::optional<std::int32_t> slot_of(const Numbered& numbered, const StageVersions& versions) {
  if (!versions.keeps_previous) {
    return numbered.weights % versions.slots;
  }
  const std::int32_t age = numbered.updated - numbered.weights;
  return age == 0 || age == 1 ? std::optional(age) : std::nullopt;
}

using Walks = std::map<StageId, StageWalk>;

std::vector<Numbered> number_weights(const std::vector<Action>& list,
                                     const WeightUpdates& updates,
                                     Walks& walks) {
  std::vector<Numbered> numbered;
  for (const Action& action : list) {
    StageWalk& walk = walks.try_emplace(action.stage, updates).first->second;
    numbered.push_back({action, walk.weights_of(action), walk.updated()});
    if (walk.update_follows(action)) {
      numbered.push_back({update_behind(action), walk.updated(), walk.updated()});
    }
  }
  return numbered;
}

Result<void> assign(std::vector<Action>& list,
                    const WeightUpdates& updates,
                    std::vector<StageVersions>& stages) {
  Walks walks;
  const std::vector<Numbered> numbered = number_weights(list, updates, walks);
  for (const auto& [stage, walk] : walks) {
    if (!walk.is_whole()) {
      return fail(ErrorCode::kInfeasible,
                  fmt::format("weights change every {} micro-batches, which does not divide those "
                              "of stage {}; take a divisor",
                              updates.every,
                              stage.value()),
                  "plan:/schedule_parameters");
    }
    StageVersions& versions = stages[stage.index()];
    versions.keeps_previous = updates.one_behind;
    versions.slots = updates.one_behind ? 2 : walk.at_once();
    versions.newest_at_end = updates.one_behind ? 0 : walk.updated() % versions.slots;
  }
  list.clear();
  for (const Numbered& one : numbered) {
    const auto slot = slot_of(one, stages[one.action.stage.index()]);
    if (!slot) {
      return fail(ErrorCode::kInfeasible,
                  fmt::format("{} would need weights older than the previous ones; let them change "
                              "after more than {} micro-batches",
                              to_string(one.action),
                              updates.every),
                  "plan:/schedule_parameters");
    }
    Action& action = list.emplace_back(one.action);
    action.version = static_cast<std::uint16_t>(*slot);
  }
  return {};
}

}  // namespace

Result<VersionedOrder> assign_weight_versions(PipelineOrder order) {
  VersionedOrder versioned;
  versioned.stages.resize(static_cast<std::size_t>(order.stages));
  if (order.updates) {
    for (std::vector<Action>& list : order.ranks) {
      if (Result<void> assigned = assign(list, *order.updates, versioned.stages); !assigned) {
        return pass_on(std::move(assigned));
      }
    }
    order.pairs.clear();  // places have changed
  }
  versioned.order = std::move(order);
  return versioned;
}

}  // namespace stagewright
