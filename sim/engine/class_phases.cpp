#include "sim/engine/class_phases.h"

#include <map>
#include <optional>
#include <tuple>

#include "core/schedule/touches.h"
#include "sim/cost/rank_rules.h"
#include "sim/engine/like_ranks.h"
#include "sim/engine/pass_messages.h"

namespace stagewright {
namespace {

bool exists_for_its_collectives(ActionKind kind) {
  return kind == ActionKind::kReduceGradients || kind == ActionKind::kGatherParameters ||
         kind == ActionKind::kOptimizerStep;
}

/// What other ranks have a part in: messages and reduced gradients.
std::vector<TensorId> arriving_tensors(const RankProgram& program, const Action& action) {
  std::vector<TensorId> tensors;
  const auto add = [&tensors](const std::optional<TensorId>& tensor) {
    if (tensor) {
      tensors.push_back(*tensor);
    }
  };
  add(pass_messages(program, action).awaited);
  if (action.kind == ActionKind::kOptimizerStep) {
    for (const GradientBucket& bucket : program.buckets) {
      add(bucket.storage);
    }
  } else if (action.kind == ActionKind::kUpdateParameters) {
    for (const GradientBucket& bucket : program.buckets) {
      if (bucket.stage == action.stage) {
        add(bucket.storage);
      }
    }
  }
  return tensors;
}

class PhaseMaker {
 public:
  PhaseMaker(const RankProgram& program, std::vector<bool> meets, const CostModel& cost)
      : program_(program), meets_(std::move(meets)), cost_(cost) {}

  void run(ClassPhases& result) {
    result.phases.emplace_back();
    result.tracked.assign(program_.tensors.size(), false);
    std::map<std::tuple<ActionKind, StageId, std::int32_t, BucketId>, std::int32_t> known;
    for (const Action& action : program_.actions) {
      for (const TensorId tensor : moved_tensors(program_, action)) {
        result.tracked[memory_owner(program_, tensor).index()] = true;
      }
      if (operations_of(program_, action).ops.empty()) {
        result.phase_of_action.push_back(0);
        continue;
      }
      const auto [found, is_new] =
          known.try_emplace({action.kind, action.stage, action.version, action.bucket},
                            static_cast<std::int32_t>(result.phases.size()));
      if (is_new) {
        result.phases.push_back(make(action, result));
      }
      result.phase_of_action.push_back(found->second);
    }
    for (PhasePieces& phase : result.phases) {
      for (Piece& piece : phase.pieces) {
        keep_marked(piece, result.tracked);
      }
    }
  }

 private:
  [[nodiscard]] PhasePieces make(const Action& action, ClassPhases& result) const {
    const ActionOperations selection = operations_of(program_, action);
    const PieceCuts cuts{
        .every_collective = exists_for_its_collectives(action.kind),
        .meets = meets_,
        .arriving = arriving_tensors(program_, action),
        .whole = result.place.rules.passes_wait ? pass_messages(program_, action) : PassMessages{}};
    const PricedOperations priced = price_operations(program_, selection, result.place, cost_);
    PhasePieces phase = cut_into_pieces(program_, selection, priced, cuts, result.place);
    phase.seconds = priced.seconds;
    for (const Piece& piece : phase.pieces) {
      mark_exposed_tensors(program_, selection, piece, result.tracked);
    }
    return phase;
  }

  const RankProgram& program_;
  std::vector<bool> meets_;
  const CostModel& cost_;
};

}  // namespace

ClassPhases make_class_phases(const Schedule& schedule,
                              const Cluster& cluster,
                              const ScheduleGeometry& geometry,
                              const RankClasses& classes,
                              std::size_t rank_class,
                              const CostModel& cost) {
  const RankBinding& binding = schedule.ranks[classes.lowest[rank_class].index()];
  ClassPhases result;
  result.place.device = &cluster.type_of(binding.device);
  std::vector<bool> meets;
  for (std::size_t slot = 0; slot < binding.groups.size(); ++slot) {
    const GroupId group = binding.groups[slot];
    const auto distinct = static_cast<std::size_t>(geometry.of_group[group.index()]);
    result.place.groups.push_back(geometry.distinct[distinct]);
    result.place.group_kinds.push_back(schedule.groups[group.index()].kind);
    meets.push_back(!in_step(classes, rank_class, GroupSlot(slot)));
  }
  apply_rules(schedule, cluster, geometry, classes.lowest[rank_class], cost, result.place);
  PhaseMaker(schedule.programs[binding.program.index()], std::move(meets), cost).run(result);
  return result;
}

}  // namespace stagewright
