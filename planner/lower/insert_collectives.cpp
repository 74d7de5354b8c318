#include "planner/lower/insert_collectives.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/check.h"
#include "planner/lower/rank_draft.h"

namespace stagewright {
namespace {

/// Where a tensor that is still partial was written.
struct Pending {
  std::size_t writer = 0;
  OpVariant reduction = OpVariant::kSum;
};
using PendingTensors = std::map<TensorId, Pending>;

/// A reduction to be placed behind an operation.
struct Insertion {
  std::size_t writer = 0;
  TensorId tensor;
  OpVariant reduction = OpVariant::kSum;
};

Operation all_reduce(const Insertion& insertion,
                     const Operation& writer,
                     std::optional<GroupSlot> group,
                     const TensorSpec& tensor) {
  SW_CHECK(group.has_value(), "a tensor group where results are partial");
  Operation op;
  op.kind = OpKind::kAllReduce;
  op.variant = insertion.reduction;
  op.dtype = tensor.dtype;
  op.stream = kTensorStream;
  op.shape.cols = tensor.elements();
  op.inputs = {insertion.tensor};
  op.outputs = {insertion.tensor};
  op.group = group;
  op.layer = writer.layer;
  op.weight_gradient = writer.weight_gradient;
  return op;
}

/// Takes the inputs that are partial, to be reduced.
void require_whole(const Operation& op,
                   PendingTensors& pending,
                   std::vector<Insertion>& insertions) {
  for (const TensorId input : op.inputs) {
    if (const auto found = pending.find(input); found != pending.end()) {
      insertions.push_back({found->second.writer, input, found->second.reduction});
      pending.erase(found);
    }
  }
}

bool all_inputs_are_partial_sums(const Operation& op, const PendingTensors& pending) {
  return std::all_of(op.inputs.begin(), op.inputs.end(), [&pending](TensorId input) {
    const auto found = pending.find(input);
    return found != pending.end() && found->second.reduction == OpVariant::kSum;
  });
}

/// What has to be reduced, and behind which operation.
std::vector<Insertion> find_insertions(const std::vector<DraftOperation>& draft) {
  std::vector<Insertion> insertions;
  PendingTensors pending;
  for (std::size_t i = 0; i < draft.size(); ++i) {
    const Operation& op = draft[i].op;
    bool partial = draft[i].partial.has_value();
    if (op.kind == OpKind::kAdd && all_inputs_are_partial_sums(op, pending)) {
      partial = true;
      for (const TensorId input : op.inputs) {
        pending.erase(input);
      }
    } else {
      require_whole(op, pending, insertions);
    }
    for (const TensorId output : op.outputs) {
      pending.erase(output);
    }
    if (partial) {
      pending[op.outputs.front()] = {i, draft[i].partial.value_or(OpVariant::kSum)};
    }
  }
  for (const auto& [tensor, left] : pending) {
    insertions.push_back({left.writer, tensor, left.reduction});
  }
  std::stable_sort(insertions.begin(), insertions.end(), [](const auto& a, const auto& b) {
    return a.writer < b.writer;
  });
  return insertions;
}

}  // namespace

std::vector<Operation> insert_collectives(const std::vector<DraftOperation>& draft,
                                          std::optional<GroupSlot> group,
                                          const std::vector<TensorSpec>& tensors) {
  const std::vector<Insertion> insertions = find_insertions(draft);
  std::vector<Operation> ops;
  ops.reserve(draft.size() + insertions.size());
  auto next = insertions.begin();
  for (std::size_t i = 0; i < draft.size(); ++i) {
    ops.push_back(draft[i].op);
    for (; next != insertions.end() && next->writer == i; ++next) {
      ops.push_back(all_reduce(*next, draft[i].op, group, tensors[next->tensor.index()]));
    }
  }
  return ops;
}

}  // namespace stagewright
