#include "core/schedule/touches.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace stagewright {

TensorId memory_owner(const RankProgram& program, TensorId tensor) {
  TensorId owner = tensor;
  while (program.tensors[owner.index()].view) {
    owner = program.tensors[owner.index()].view->base;
  }
  return owner;
}

namespace {
/// Gathers touches in issue order.
class Collector {
 public:
  explicit Collector(const RankProgram& program) : program_(&program) {}

  void use(TensorId tensor, std::int32_t op) { touch(tensor, op, false, true); }
  void write(TensorId tensor, std::int32_t op) {
    // A write through a window leaves the rest of its base as it was.
    touch(tensor, op, !program_->tensors[tensor.index()].view, false);
  }

  [[nodiscard]] std::vector<Touch> sorted() && {
    std::ranges::sort(
        touches_, {}, [](const Touch& t) { return std::tuple(t.first_op, t.tensor); });
    return std::move(touches_);
  }

 private:
  void touch(TensorId tensor, std::int32_t op, bool fresh, bool reads) {
    const TensorId owner = memory_owner(*program_, tensor);
    if (program_->tensors[owner.index()].scope == TensorScope::kPersistent) {
      return;
    }
    const auto [found, is_new] = latest_.try_emplace(owner, touches_.size());
    if (is_new || fresh) {
      found->second = touches_.size();
      touches_.push_back({owner, op, op, fresh, reads});
    } else {
      touches_[found->second].last_op = op;
    }
  }

  const RankProgram* program_;
  std::vector<Touch> touches_;
  std::unordered_map<TensorId, std::size_t> latest_;
};
}  // namespace

TouchTable::TouchTable(const RankProgram& program)
    : program_(&program), stages_(program.stages.size()), buckets_(program.buckets.size()) {}

std::vector<Touch> TouchTable::work_out(const Action& action) const {
  Collector collector(*program_);
  for (const TensorId tensor : moved_tensors(*program_, action)) {
    if (is_send(action.kind)) {
      collector.use(tensor, 0);
    } else {
      collector.write(tensor, 0);
    }
  }
  const ActionOperations run = operations_of(*program_, action);
  for (std::size_t i = 0; i < run.ops.size(); ++i) {
    const Operation& op = run.ops[i];
    if (!run.includes(op)) {
      continue;
    }
    const auto index = static_cast<std::int32_t>(i);
    for (const TensorId tensor : op.inputs) {
      collector.use(tensor, index);
    }
    for (const TensorId tensor : op.outputs) {
      if (reads_outputs(op) || std::ranges::find(op.inputs, tensor) != op.inputs.end()) {
        collector.use(tensor, index);
      } else {
        collector.write(tensor, index);
      }
    }
  }
  return std::move(collector).sorted();
}

const std::vector<Touch>& TouchTable::of(const Action& action) {
  PerKind* per_kind = &others_;
  if (action.kind == ActionKind::kReduceGradients || action.kind == ActionKind::kGatherParameters) {
    per_kind = &buckets_[action.bucket.index()];
  } else if (action.kind != ActionKind::kOptimizerStep) {
    const StageProgram& stage = program_->stage(action.stage, action.version);
    per_kind = &stages_[static_cast<std::size_t>(&stage - program_->stages.data())];
  }
  auto& touches = (*per_kind)[static_cast<std::size_t>(action.kind)];
  if (!touches) {
    touches = work_out(action);
  }
  return *touches;
}

}  // namespace stagewright
