#include "sim/cost/rank_rules.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

#include "core/schedule/channels.h"

namespace stagewright {
namespace {

/// Nodes that so many ranks fill, in a cluster of equal ones.
double nodes_of(const Schedule& schedule, const Cluster& cluster) {
  const auto each = static_cast<double>(cluster.nodes.front().devices.size());
  return std::max(1.0, static_cast<double>(schedule.ranks.size()) / each);
}

/// Members of the largest group that sums activations: they hold the same ones afterwards.
std::int32_t activation_copies(const RankProgram& program, const RankPlace& place) {
  std::int32_t copies = 1;
  for (const StageProgram& stage : program.stages) {
    for (const Operation& op : stage.forward) {
      if (op.kind == OpKind::kAllReduce) {
        copies = std::max(copies, place.groups[op.group->index()].members);
      }
    }
  }
  return copies;
}

/// By slot: whether all members run the rank's program.
std::vector<bool> alike_groups(const Schedule& schedule, const RankBinding& binding) {
  std::vector<bool> alike;
  for (const GroupId group : binding.groups) {
    alike.push_back(
        std::ranges::all_of(schedule.groups[group.index()].members, [&](const RankId member) {
          return schedule.ranks[member.index()].program == binding.program;
        }));
  }
  return alike;
}

/// What each stage's passes wait for: the message that they receive, or, at the ends of the
/// pipeline, the one that they send.
std::map<StageId, RankPlace::StageWait> message_waits(const RankProgram& program,
                                                      const ScheduleGeometry& geometry,
                                                      RankId rank,
                                                      const RankPlace& place,
                                                      const CostModel& cost) {
  std::map<StageId, RankPlace::StageWait> waits;
  const auto collect = [&](bool receives) {
    for (const Action& action : program.actions) {
      if (receives ? !is_receive(action.kind) : !is_send(action.kind)) {
        continue;
      }
      const bool forward = message_kind(action.kind) == message_kind(ActionKind::kRecvActivation);
      RankPlace::StageWait& wait = waits[action.stage];
      Duration& time = forward ? wait.forward : wait.backward;
      if (time == Duration{}) {
        const auto ends =
            static_cast<std::size_t>(geometry.of_peers[rank.index()][action.peer.index()]);
        time = whole_message_time(
            message_bytes(program, action), geometry.distinct[ends], place, cost);
      }
    }
  };
  collect(true);
  collect(false);
  return waits;
}

class BucketTraffic {
 public:
  BucketTraffic(const RankProgram& program, const CostModel& cost, const RankPlace& place)
      : program_(program), cost_(cost), place_(place) {}

  [[nodiscard]] std::vector<RankPlace::BucketShare> run() {
    std::vector<RankPlace::BucketShare> shares(program_.buckets.size());
    if (shares.empty()) {
      return shares;
    }
    double reduced = 0;
    double gathered = 0;
    double moved = 0;
    for (std::size_t b = 0; b < shares.size(); ++b) {
      const GradientBucket& bucket = program_.buckets[b];
      if (gathers_often(bucket)) {
        moved += often(b, bucket);
      } else {
        reduced += hideable(bucket.reduce);
        gathered += hideable(bucket.gather);
      }
    }
    const ExecutionRules& rules = place_.rules;
    const double backward = one_backward();
    const double reduce = exposed(reduced, rules.reduction_hidden, backward);
    const double gather = exposed(gathered, rules.gather_hidden, backward / 2);
    const double both = moved > 0 ? std::min(moved, computed()) / moved : 0;
    // What is hidden slows the computation down; the bucket's price carries that.
    const double sharded = 1 - rules.sharded_hidden * both * (2 - rules.overlap_slowdown);
    for (std::size_t b = 0; b < shares.size(); ++b) {
      const bool is_often = gathers_often(program_.buckets[b]);
      shares[b] = {.reduce = is_often ? sharded : reduce, .gather = is_often ? sharded : gather};
    }
    return shares;
  }

 private:
  /// Share of so many seconds that is exposed.
  [[nodiscard]] static double exposed(double seconds, double hidden, double at_most) {
    return seconds > 0 ? 1 - std::min(hidden * seconds, at_most) / seconds : 1;
  }

  [[nodiscard]] bool gathers_often(const GradientBucket& bucket) const {
    return std::ranges::any_of(bucket.gather, [this](const Operation& op) {
      return program_.tensors[op.outputs.front().index()].scope == TensorScope::kMicroBatch;
    });
  }

  /// The last collective of a list: what several holders of a weight sum first cannot be hidden.
  [[nodiscard]] double hideable(const std::vector<Operation>& list) const {
    return list.empty() ? 0 : price(list.back());
  }

  [[nodiscard]] double price(const Operation& op) const {
    return to_seconds(cost_.collective(op, place_.groups[op.group->index()]).time);
  }

  /// Of a bucket that moves with each micro-batch, over the step.
  [[nodiscard]] double often(std::size_t b, const GradientBucket& bucket) const {
    double seconds = 0;
    for (const Action& action : program_.actions) {
      if (action.bucket == BucketId(b) && action.kind == ActionKind::kGatherParameters) {
        seconds += hideable(bucket.gather);
      } else if (action.bucket == BucketId(b) && action.kind == ActionKind::kReduceGradients) {
        seconds += hideable(bucket.reduce);
      }
    }
    return seconds;
  }

  [[nodiscard]] double seconds_of(const ActionOperations& selection) const {
    return price_operations(program_, selection, place_, cost_).seconds;
  }

  /// Of one micro-batch, on all stages of the rank.
  [[nodiscard]] double one_backward() const {
    double seconds = 0;
    for (const StageProgram& stage : program_.stages) {
      if (stage.version == 0) {
        seconds += seconds_of({stage.backward}) + seconds_of({stage.recompute});
      }
    }
    return seconds;
  }

  /// Of the whole step.
  [[nodiscard]] double computed() const {
    double seconds = 0;
    std::map<std::tuple<ActionKind, StageId, std::int32_t>, double> known;
    for (const Action& action : program_.actions) {
      if (!is_compute(action.kind)) {
        continue;
      }
      const auto [found, is_new] = known.try_emplace({action.kind, action.stage, action.version});
      if (is_new) {
        found->second = seconds_of(operations_of(program_, action));
      }
      seconds += found->second;
    }
    return seconds;
  }

  const RankProgram& program_;
  const CostModel& cost_;
  const RankPlace& place_;
};

}  // namespace

void apply_rules(const Schedule& schedule,
                 const Cluster& cluster,
                 const ScheduleGeometry& geometry,
                 RankId rank,
                 const CostModel& cost,
                 RankPlace& place) {
  place.rules = cost.rules(*place.device);
  if (place.rules == ExecutionRules{}) {
    return;
  }
  const RankBinding& binding = schedule.ranks[rank.index()];
  const RankProgram& program = schedule.programs[binding.program.index()];
  place.alike = alike_groups(schedule, binding);
  place.activation_copies = activation_copies(program, place);
  place.exposed = BucketTraffic(program, cost, place).run();
  place.stretch = 1 + place.rules.straggle * std::log2(nodes_of(schedule, cluster));
  if (place.rules.transfers_block) {
    place.waits = message_waits(program, geometry, rank, place, cost);
  }
}

}  // namespace stagewright
