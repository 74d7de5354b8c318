#include "planner/lower/recompute.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>

namespace stagewright {
namespace {

/// Tensors whose content from before the list it reads.
std::set<TensorId> read_before_written(const std::vector<DraftOperation>& ops) {
  std::set<TensorId> read;
  std::set<TensorId> written;
  for (const DraftOperation& draft : ops) {
    for (const TensorId input : draft.op.inputs) {
      if (!written.contains(input)) {
        read.insert(input);
      }
    }
    written.insert(draft.op.outputs.begin(), draft.op.outputs.end());
  }
  return read;
}

/// By operation of the forward: whether the backward needs its results.
std::vector<bool> needed_operations(const std::vector<DraftOperation>& forward,
                                    const std::vector<DraftOperation>& backward) {
  std::set<TensorId> needed = read_before_written(backward);
  std::vector<bool> result(forward.size(), false);
  for (std::size_t i = forward.size(); i-- > 0;) {
    const Operation& op = forward[i].op;
    const auto& outputs = op.outputs;
    if (std::none_of(outputs.begin(), outputs.end(), [&needed](TensorId output) {
          return needed.contains(output);
        })) {
      continue;
    }
    if (!reads_outputs(op)) {  // else what wrote them before is needed, too
      for (const TensorId output : outputs) {
        needed.erase(output);
      }
    }
    needed.insert(op.inputs.begin(), op.inputs.end());
    result[i] = true;
  }
  return result;
}

/// The cores, and keys and values that go round a ring between them.
bool is_of_attention(OpKind kind) {
  return kind == OpKind::kAttentionForward || kind == OpKind::kCopyColumns ||
         kind == OpKind::kRingShift;
}

}  // namespace

std::vector<DraftOperation> operations_to_repeat(const std::vector<DraftOperation>& forward,
                                                 const std::vector<DraftOperation>& backward) {
  const std::vector<bool> needed = needed_operations(forward, backward);
  std::vector<DraftOperation> repeated;
  for (std::size_t i = 0; i < forward.size(); ++i) {
    if (needed[i]) {
      repeated.push_back(forward[i]);
    }
  }
  return repeated;
}

std::vector<DraftOperation> layer_to_repeat(const std::vector<DraftOperation>& forward,
                                            const std::vector<DraftOperation>& backward,
                                            RankDraft& draft) {
  const std::vector<bool> needed = needed_operations(forward, backward);
  std::map<TensorId, TensorId> renamed;
  std::vector<DraftOperation> repeated = forward;
  for (std::size_t i = 0; i < forward.size(); ++i) {
    Operation& op = repeated[i].op;
    if (!needed[i]) {
      for (const TensorId output : op.outputs) {
        const TensorSpec& spec = draft.program.tensors[output.index()];
        if (spec.scope == TensorScope::kMicroBatch && !renamed.contains(output)) {
          renamed[output] = draft.add_tensor({.name = spec.name + ".again",
                                              .dtype = spec.dtype,
                                              .shape = spec.shape,
                                              .tensor_class = spec.tensor_class,
                                              .scope = spec.scope,
                                              .view = std::nullopt});
        }
      }
    }
    for (auto* list : {&op.inputs, &op.outputs}) {
      for (TensorId& tensor : *list) {
        const auto found = renamed.find(tensor);
        tensor = found == renamed.end() ? tensor : found->second;
      }
    }
  }
  return repeated;
}

std::vector<DraftOperation> attention_to_repeat(const std::vector<DraftOperation>& forward,
                                                const std::vector<DraftOperation>& backward) {
  const std::vector<bool> needed = needed_operations(forward, backward);
  std::vector<DraftOperation> repeated;
  for (std::size_t i = 0; i < forward.size(); ++i) {
    if (needed[i] && is_of_attention(forward[i].op.kind)) {
      repeated.push_back(forward[i]);
    }
  }
  return repeated;
}

void spare_repeated_gathers(const std::vector<DraftOperation>& repeated,
                            std::vector<DraftOperation>& backward) {
  std::erase_if(backward, [&repeated](const DraftOperation& draft) {
    return draft.op.kind == OpKind::kAllGather &&
           std::ranges::any_of(repeated, [&draft](const DraftOperation& before) {
             return before.op.kind == OpKind::kAllGather && before.op.outputs == draft.op.outputs;
           });
  });
}

}  // namespace stagewright
