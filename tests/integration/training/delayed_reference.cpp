#include "tests/integration/training/delayed_reference.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/base/check.h"
#include "planner/lower/lower.h"
#include "runtime/comm/in_process.h"
#include "runtime/compute/cpu_device.h"
#include "runtime/executor/rank_executor.h"
#include "runtime/executor/schedule_world.h"
#include "runtime/trainer/sampled_batches.h"

namespace stagewright {
namespace {

Operation zeros(const RankProgram& program, TensorId tensor) {
  Operation fill;
  fill.kind = OpKind::kFill;
  fill.shape.cols = program.tensors[tensor.index()].elements();
  fill.outputs = {tensor};
  return fill;
}

/// A schedule of one rank that takes one micro-batch of a replica forward and backward, leaves its
/// gradients in their tensors, and changes no weight.
Schedule gradient_schedule(Schedule schedule, std::int32_t replica, std::int32_t micro_batch) {
  RankProgram& program = schedule.programs[0];
  std::erase_if(program.actions, [&](const Action& action) {
    return action.kind != ActionKind::kOptimizerStep &&
           action.micro_batch != MicroBatchId(micro_batch);
  });
  std::erase_if(program.optimizer_step, [&](const Operation& op) {
    const bool clears_totals = op.kind == OpKind::kFill && op.outputs.front() == *program.totals;
    return op.kind != OpKind::kAllReduce && !clears_totals;
  });
  std::vector<Operation>& forward = program.stages[0].forward;
  forward.insert(forward.begin(), zeros(program, program.buckets[0].storage));
  schedule.ranks[0].replica = replica;
  return schedule;
}

/// Loss and gradients of single micro-batches at given weights.
class GradientMachine {
 public:
  GradientMachine(const Schedule& one_rank, std::int32_t replica, std::int32_t micro_batch)
      : schedule_(gradient_schedule(one_rank, replica, micro_batch)),
        plan_(plan_rank(schedule_, RankId(0)).value()),
        world_(make_in_process_world(world_of(schedule_)).value()),
        device_(make_cpu_device()),
        executor_(schedule_, plan_, *world_->endpoints().front(), *device_, kTrainingSeed) {
    SW_CHECK(schedule_.programs[0].buckets.size() == 1, "all gradients in one bucket");
  }

  double run(const RankWeights& weights, std::int32_t step, const MicroBatchSource& source) {
    for (const ParameterSlice& slice : plan_.program->parameters) {
      const std::vector<float>& values = weights.at(slice.name);
      std::ranges::copy(values, place(slice, slice.weight).begin());
    }
    return executor_.step({.number = step, .optimizer = schedule_.optimizer}, source, nullptr)
        ->loss;
  }

  [[nodiscard]] std::span<const float> gradient(const std::string& name) {
    const ParameterSlice& slice = this->slice(name);
    return place(slice, slice.gradient);
  }
  [[nodiscard]] const ParameterSlice& slice(const std::string& name) const {
    return *std::ranges::find(plan_.program->parameters, name, &ParameterSlice::name);
  }
  [[nodiscard]] RankWeights initial_weights() {
    RankWeights weights;
    for (const ParameterSlice& slice : plan_.program->parameters) {
      const auto values = place(slice, slice.weight);
      weights[slice.name].assign(values.begin(), values.end());
    }
    return weights;
  }

 private:
  std::span<float> place(const ParameterSlice& slice, TensorId tensor) {
    std::size_t elements = 1;
    for (const std::int64_t extent : slice.global_shape) {
      elements *= static_cast<std::size_t>(extent);
    }
    return executor_.persistent(tensor).subspan(static_cast<std::size_t>(slice.weight_offset),
                                                elements);
  }

  Schedule schedule_;
  RankPlan plan_;
  std::unique_ptr<World> world_;
  std::unique_ptr<ComputeDevice> device_;
  RankExecutor executor_;
};

/// Sums of gradients by parameter.
using Gradients = std::map<std::string, std::vector<double>>;

class DelayedTrainer {
 public:
  DelayedTrainer(const ModelGraph& model,
                 const Layout& layout,
                 const OptimizerSpec& optimizer,
                 const WeightUpdates& updates,
                 const std::vector<std::vector<std::string>>& stages)
      : layout_(layout),
        optimizer_(optimizer),
        updates_(updates),
        stages_(stages),
        data_(learnable_tokens()) {
    Layout one = layout;
    one.pp = one.dp = one.cp = one.virtual_stages = 1;
    one.schedule = "1f1b";
    Plan plan = plan_of(model, one, optimizer);
    plan.micro_batches /= layout.dp;
    micro_batches_ = plan.micro_batches;
    Schedule schedule = lower(model, cluster_of(one), plan).value();
    schedule.replicas = layout.dp;
    batches_.emplace(data_, schedule, kTrainingSeed);
    for (std::int32_t replica = 0; replica < layout.dp; ++replica) {
      for (std::int32_t m = 0; m < micro_batches_; ++m) {
        machines_.push_back(std::make_unique<GradientMachine>(schedule, replica, m));
      }
    }
    newest_ = previous_ = machines_.front()->initial_weights();
  }

  double step(std::int32_t number) {
    double loss = 0;
    std::vector<RankWeights> history = {newest_};
    Gradients sums;
    for (std::int32_t m = 0; m < micro_batches_; ++m) {
      const RankWeights seen = updates_.one_behind ? previous_ : stashed(history, m);
      loss += add_gradients(seen, number, m, sums);
      if ((m + 1) % updates_.every == 0) {
        previous_ = std::exchange(newest_, updated(sums));
        history.push_back(newest_);
        sums.clear();
      }
    }
    return loss / layout_.dp;
  }

  [[nodiscard]] const RankWeights& weights() const { return newest_; }

 private:
  /// What a micro-batch finds on each stage: so many of the micro-batches before it are not done
  /// there when its forward begins.
  [[nodiscard]] RankWeights stashed(const std::vector<RankWeights>& history, std::int32_t m) const {
    RankWeights seen;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const auto under_way = static_cast<std::int32_t>(stages_.size() - 1 - i);
      const auto version = static_cast<std::size_t>(std::max(0, m - under_way));
      for (const std::string& name : stages_[i]) {
        seen[name] = history[version].at(name);
      }
    }
    return seen;
  }

  double add_gradients(const RankWeights& seen,
                       std::int32_t step,
                       std::int32_t micro_batch,
                       Gradients& sums) {
    double loss = 0;
    // The one rank divides by all micro-batches of a replica, an update by its own.
    const double factor = static_cast<double>(micro_batches_) / updates_.every / layout_.dp;
    for (std::int32_t replica = 0; replica < layout_.dp; ++replica) {
      GradientMachine& machine =
          *machines_[static_cast<std::size_t>(replica * micro_batches_ + micro_batch)];
      loss += machine.run(seen, step, *batches_);
      for (const auto& [name, values] : seen) {
        std::vector<double>& sum = sums[name];
        const auto gradient = machine.gradient(name);
        sum.resize(gradient.size());
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          sum[i] += factor * static_cast<double>(gradient[i]);
        }
      }
    }
    return loss;
  }

  /// W - rate * (gradient + decay * W).
  [[nodiscard]] RankWeights updated(const Gradients& sums) const {
    RankWeights weights = newest_;
    for (auto& [name, values] : weights) {
      const double decay = machines_.front()->slice(name).decay ? optimizer_.weight_decay : 0.0;
      const std::vector<double>& gradient = sums.at(name);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto w = static_cast<double>(values[i]);
        values[i] = static_cast<float>(w - optimizer_.learning_rate * (gradient[i] + decay * w));
      }
    }
    return weights;
  }

  Layout layout_;
  OptimizerSpec optimizer_;
  WeightUpdates updates_;
  std::vector<std::vector<std::string>> stages_;
  TokenData data_;
  std::int32_t micro_batches_ = 1;
  std::optional<SampledBatches> batches_;
  std::vector<std::unique_ptr<GradientMachine>> machines_;  ///< by replica, then micro-batch
  RankWeights newest_;
  RankWeights previous_;
};

}  // namespace

DelayedTraining train_with_delays(const ModelGraph& model,
                                  const Layout& layout,
                                  const OptimizerSpec& optimizer,
                                  const WeightUpdates& updates,
                                  const std::vector<std::vector<std::string>>& stages,
                                  std::int32_t steps) {
  DelayedTrainer trainer(model, layout, optimizer, updates, stages);
  DelayedTraining training;
  for (std::int32_t step = 1; step <= steps; ++step) {
    training.losses.push_back(trainer.step(step));
  }
  training.weights = trainer.weights();
  return training;
}

}  // namespace stagewright
