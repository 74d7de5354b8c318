#include "sim/analysis/step_use.h"

#include <cstddef>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/schedule/touches.h"
#include "sim/analysis/step_graph_work.h"
#include "sim/analysis/summary.h"
#include "sim/cost/schedule_geometry.h"
#include "sim/engine/like_ranks.h"
#include "sim/engine/rank_activity.h"
#include "sim/engine/step_graph.h"

namespace stagewright {
namespace {

/// Where nothing says which collective a rank waited for.
constexpr const char* kSomeCollective = "collective";

double sum_of(const std::map<LayerId, double>& by_layer) {
  return std::accumulate(by_layer.begin(), by_layer.end(), 0.0, [](double sum, const auto& entry) {
    return sum + entry.second;
  });
}

bool is_optimizer(ActionKind kind) {
  return kind == ActionKind::kOptimizerStep || kind == ActionKind::kUpdateParameters;
}

bool is_backward(ActionKind kind) {
  return kind == ActionKind::kBackward || kind == ActionKind::kBackwardInput;
}

/// By operation of a stage's backward: whether it runs the forward again, because nothing that it
/// reads came from a gradient.
std::vector<bool> repeated_operations(const RankProgram& program, const StageProgram& stage) {
  std::set<TensorId> gradients;
  if (stage.output_gradient) {
    gradients.insert(memory_owner(program, *stage.output_gradient));
  }
  std::vector<bool> repeated;
  for (const Operation& op : stage.backward) {
    bool forward = op.kind != OpKind::kFill && op.kind != OpKind::kLossGradient;
    for (const TensorId input : op.inputs) {
      forward = forward && !gradients.contains(memory_owner(program, input));
    }
    repeated.push_back(forward);
    for (const TensorId output : op.outputs) {
      if (forward) {
        gradients.erase(memory_owner(program, output));
      } else {
        gradients.insert(memory_owner(program, output));
      }
    }
  }
  return repeated;
}

/// The message that an action waits for inside its first operation.
Duration message_inside(const RankPlace& place, const Action& action) {
  const auto wait = place.waits.find(action.stage);
  if (wait == place.waits.end()) {
    return {};
  }
  if (action.kind == ActionKind::kForward) {
    return wait->second.forward;
  }
  return is_backward(action.kind) ? wait->second.backward : Duration{};
}

class RankAccount {
 public:
  RankAccount(const ClassWork& work, const RankActivity& activity)
      : work_(work), program_(*work.program) {
    const std::vector<std::int32_t>& phase_of = work.phases.phase_of_action;
    std::vector<double> times(work.phases.phases.size());
    std::vector<std::size_t> example(times.size());
    for (std::size_t action = 0; action < work.actions.size(); ++action) {
      const auto phase = static_cast<std::size_t>(phase_of[action]);
      times[phase] += 1;
      example[phase] = action;
    }
    double inside = 0;
    for (const auto& [kind, time] : activity.inside) {
      use_.exposed[kind] += to_seconds(time);
      inside += to_seconds(time);
    }
    inside += to_seconds(activity.in_optimizer);
    use_.optimizer += to_seconds(activity.in_optimizer);
    for (std::size_t phase = 0; phase < times.size(); ++phase) {
      if (times[phase] > 0) {
        add_phase(example[phase], times[phase]);
      }
    }
    use_.other += to_seconds(activity.busy) - inside - computed_;
  }

  void add_idle(const RankBubble& bubble, const RankActivity& activity) {
    double known = 0;
    for (const auto& [kind, time] : activity.outside) {
      known += kind == kPipelineTransfers ? 0 : to_seconds(time);
    }
    for (std::size_t cause = 0; cause < bubble.by_cause.size(); ++cause) {
      const double idle = to_seconds(bubble.by_cause[cause]);
      if (idle == 0) {
        continue;
      }
      switch (static_cast<BubbleCause>(cause)) {
        case BubbleCause::kTransfer:
          use_.exposed[kPipelineTransfers] += idle;
          break;
        case BubbleCause::kCollective:
          for (const auto& [kind, time] : activity.outside) {
            if (kind != kPipelineTransfers) {
              use_.exposed[kind] += idle * to_seconds(time) / known;
            }
          }
          if (known == 0) {
            use_.exposed[kSomeCollective] += idle;
          }
          break;
        case BubbleCause::kWarmUp:
        case BubbleCause::kCoolDown:
        case BubbleCause::kOrder:
        case BubbleCause::kImbalance:
        case BubbleCause::kOptimizer:
        case BubbleCause::kPeer:
          use_.bubble[cause] += idle;
          break;
      }
    }
  }

  [[nodiscard]] TimeUse finish() && { return std::move(use_); }

 private:
  /// All actions that run a phase, of which one is given.
  void add_phase(std::size_t index, double times) {
    const Action& action = program_.actions[index];
    const ActionOperations selection = operations_of(program_, action);
    const std::vector<bool>* repeated = is_backward(action.kind) ? &repeated_in(action) : nullptr;
    Duration message = message_inside(work_.phases.place, action);
    for (const Piece& piece : work_.pieces(index)) {
      for (const PricedOperation& priced : piece.ops) {
        const Operation& op = selection.ops[static_cast<std::size_t>(priced.op)];
        const double inside = times * to_seconds(message);
        if (op.stream == kComputeStream && class_of(op.kind) != OpClass::kCollective) {
          const double seconds = times * to_seconds(priced.duration);
          computed_ += seconds;
          if (inside > 0) {
            use_.exposed[kPipelineTransfers] += inside;
          }
          const bool again =
              action.kind == ActionKind::kRecompute ||
              (repeated != nullptr && (*repeated)[static_cast<std::size_t>(priced.op)]);
          add(op, action.kind, again, seconds - inside);
        }
        message = {};
      }
    }
  }

  void add(const Operation& op, ActionKind kind, bool again, double seconds) {
    if (is_optimizer(kind)) {
      use_.optimizer += seconds;
    } else if (!op.layer) {
      use_.other += seconds;
    } else if (again) {
      use_.repeated[*op.layer] += seconds;
    } else {
      use_.compute[*op.layer] += seconds;
    }
  }

  [[nodiscard]] const std::vector<bool>& repeated_in(const Action& action) {
    const auto [found, is_new] = repeated_.try_emplace(action.stage);
    if (is_new) {
      found->second = repeated_operations(program_, program_.stage(action.stage, action.version));
    }
    return found->second;
  }

  const ClassWork& work_;
  const RankProgram& program_;
  TimeUse use_;
  double computed_ = 0;
  std::map<StageId, std::vector<bool>> repeated_;
};

void add(TimeUse& sum, const TimeUse& use, double weight) {
  for (const auto& [layer, seconds] : use.compute) {
    sum.compute[layer] += weight * seconds;
  }
  for (const auto& [layer, seconds] : use.repeated) {
    sum.repeated[layer] += weight * seconds;
  }
  sum.optimizer += weight * use.optimizer;
  sum.other += weight * use.other;
  for (const auto& [kind, seconds] : use.exposed) {
    sum.exposed[kind] += weight * seconds;
  }
  for (std::size_t cause = 0; cause < sum.bubble.size(); ++cause) {
    sum.bubble[cause] += weight * use.bubble[cause];
  }
}

}  // namespace

double TimeUse::computing() const {
  return sum_of(compute) + sum_of(repeated) + other;
}

double TimeUse::total() const {
  double sum = computing() + optimizer;
  for (const auto& [kind, seconds] : exposed) {
    sum += seconds;
  }
  return std::accumulate(bubble.begin(), bubble.end(), sum);
}

Result<StepUse> step_use(const Schedule& schedule, const Cluster& cluster, const CostModel& cost) {
  const auto geometry = schedule_geometry(schedule, cluster);
  if (!geometry) {
    return fail(geometry.error().code, geometry.error().message, geometry.error().where);
  }
  const auto step = build_step_graph(
      schedule, cluster, *geometry, like_ranks(schedule, cluster, *geometry), cost);
  if (!step) {
    return fail(step.error().code, step.error().message, step.error().where);
  }
  const StepTimes times = time_step(*step);
  const BubbleCauses bubbles = bubble_causes(work_of(*step, times));
  double ranks = 0;
  for (const ClassWork& work : step->classes) {
    ranks += work.ranks;
  }
  StepUse result;
  for (std::size_t i = 0; i < step->classes.size(); ++i) {
    const ClassWork& work = step->classes[i];
    const RankActivity activity = rank_activity(*step, times, work);
    RankAccount account(work, activity);
    account.add_idle(bubbles.ranks[i], activity);
    result.ranks.push_back(
        {.rank = work.rank, .alike = work.ranks, .use = std::move(account).finish()});
    add(result.mean, result.ranks.back().use, work.ranks / ranks);
  }
  return result;
}

}  // namespace stagewright
