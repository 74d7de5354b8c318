#include "tests/support/random_program.h"

#include <algorithm>
#include <string>

namespace stagewright {
namespace {

class Maker {
 public:
  explicit Maker(std::mt19937_64& random) : random_(random) {}

  RankProgram make() {
    add_tensors();
    const std::int64_t stages = number(1, 3);
    for (std::int64_t s = 0; s < stages; ++s) {
      StageProgram stage;
      stage.stage = StageId(static_cast<std::int32_t>(2 * s + 1));
      stage.forward = operations();
      stage.backward = operations();
      stage.recompute = operations();
      stage.input = own_tensor();
      stage.output = own_tensor();
      stage.output_gradient = own_tensor();
      stage.input_gradient = own_tensor();
      stage.tokens = own_tensor();
      if (flip()) {
        stage.targets = own_tensor();
      }
      program_.stages.push_back(std::move(stage));
      program_.buckets.push_back(
          {tensor(), program_.stages.back().stage, operations(), operations()});
    }
    program_.optimizer_step = operations();
    const std::int64_t actions = number(0, 40);
    for (std::int64_t i = 0; i < actions; ++i) {
      program_.actions.push_back(action());
    }
    return std::move(program_);
  }

 private:
  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool flip() { return number(0, 1) == 1; }

  void add_tensors() {
    const std::int64_t count = number(2, 14);
    for (std::int64_t i = 0; i < count; ++i) {
      TensorSpec spec;
      spec.name = "t" + std::to_string(i);
      spec.shape = {number(0, 9), number(1, 40)};
      spec.tensor_class = static_cast<TensorClass>(number(0, kTensorClassCount - 1));
      spec.scope = number(0, 2) == 0 ? TensorScope::kPersistent : TensorScope::kMicroBatch;
      program_.tensors.push_back(std::move(spec));
    }
    owners_ = count;
    const std::int64_t views = number(0, 3);
    for (std::int64_t i = 0; i < views; ++i) {
      const TensorId base = own_tensor();
      TensorSpec spec = program_.tensors[base.index()];
      spec.name += ".view";
      spec.view = TensorSpec::View{base, 0};
      program_.tensors.push_back(std::move(spec));
    }
  }

  TensorId own_tensor() { return TensorId(static_cast<std::size_t>(number(0, owners_ - 1))); }
  TensorId tensor() {
    return TensorId(static_cast<std::size_t>(
        number(0, static_cast<std::int64_t>(program_.tensors.size()) - 1)));
  }

  std::vector<Operation> operations() {
    std::vector<Operation> ops(static_cast<std::size_t>(number(0, 7)));
    for (Operation& op : ops) {
      op.kind = static_cast<OpKind>(number(0, kOpKindCount - 1));
      op.accumulate = number(0, 3) == 0;
      op.weight_gradient = flip();
      for (std::int64_t i = number(0, 3); i > 0; --i) {
        op.inputs.push_back(tensor());
      }
      for (std::int64_t i = number(1, 2); i > 0; --i) {
        const TensorId output = tensor();
        if (std::ranges::find(op.outputs, output) == op.outputs.end()) {
          op.outputs.push_back(output);
        }
      }
      if (!op.inputs.empty() && number(0, 3) == 0) {
        op.outputs = {op.inputs.front()};
      }
    }
    return ops;
  }

  Action action() {
    Action action;
    action.kind = static_cast<ActionKind>(number(0, kActionKindCount - 1));
    const std::int64_t stage = number(0, static_cast<std::int64_t>(program_.stages.size()) - 1);
    if (action.kind == ActionKind::kReduceGradients ||
        action.kind == ActionKind::kGatherParameters) {
      action.bucket = BucketId(static_cast<std::size_t>(stage));
    } else if (action.kind != ActionKind::kOptimizerStep) {
      action.stage = program_.stages[static_cast<std::size_t>(stage)].stage;
      action.micro_batch = MicroBatchId(static_cast<std::int32_t>(number(0, 3)));
    }
    if (is_send(action.kind) || is_receive(action.kind)) {
      action.peer = PeerSlot(static_cast<std::int32_t>(number(0, 2)));
    }
    return action;
  }

  std::mt19937_64& random_;
  RankProgram program_;
  std::int64_t owners_ = 0;
};

}  // namespace

RankProgram random_program(std::mt19937_64& random) {
  return Maker(random).make();
}

}  // namespace stagewright
