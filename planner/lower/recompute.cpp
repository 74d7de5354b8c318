#include "planner/lower/recompute.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
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

}  // namespace

std::vector<DraftOperation> operations_to_repeat(const std::vector<DraftOperation>& forward,
                                                 const std::vector<DraftOperation>& backward) {
  std::set<TensorId> needed = read_before_written(backward);
  std::vector<DraftOperation> repeated;
  for (std::size_t i = forward.size(); i-- > 0;) {
    const Operation& op = forward[i].op;
    const auto& outputs = op.outputs;
    if (std::none_of(outputs.begin(), outputs.end(), [&needed](TensorId output) {
          return needed.contains(output);
        })) {
      continue;
    }
    for (const TensorId output : outputs) {
      needed.erase(output);
    }
    needed.insert(op.inputs.begin(), op.inputs.end());
    repeated.push_back(forward[i]);
  }
  std::reverse(repeated.begin(), repeated.end());
  return repeated;
}

std::vector<DraftOperation> attention_to_repeat(const std::vector<DraftOperation>& forward,
                                                const std::vector<DraftOperation>& backward) {
  const std::set<TensorId> needed = read_before_written(backward);
  std::vector<DraftOperation> repeated;
  std::copy_if(forward.begin(), forward.end(), std::back_inserter(repeated), [&](const auto& op) {
    const auto& outputs = op.op.outputs;
    return op.op.kind == OpKind::kAttentionForward &&
           std::any_of(outputs.begin(), outputs.end(), [&needed](TensorId output) {
             return needed.contains(output);
           });
  });
  return repeated;
}

}  // namespace stagewright
