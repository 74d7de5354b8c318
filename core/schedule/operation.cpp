#include "core/schedule/operation.h"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/schedule/window_sizes.h"

namespace stagewright {

bool reads_outputs(const Operation& op) {
  switch (op.kind) {
    case OpKind::kColumnSum:
    case OpKind::kAddColumns:
    case OpKind::kNormParameterGradient:
    case OpKind::kEmbeddingGradient:
    case OpKind::kPositionGradient:
    case OpKind::kLossFinish:
    case OpKind::kSquaredSum:
    case OpKind::kSgdStep:
    case OpKind::kAdamWStep:
      return true;
    case OpKind::kGemm:
    case OpKind::kNormForward:
    case OpKind::kNormInputGradient:
    case OpKind::kRopeForward:
    case OpKind::kRopeBackward:
    case OpKind::kAttentionForward:
    case OpKind::kAttentionBackward:
    case OpKind::kActivationForward:
    case OpKind::kActivationBackward:
    case OpKind::kAdd:
    case OpKind::kDropout:
    case OpKind::kEmbeddingForward:
    case OpKind::kPositionForward:
    case OpKind::kLossRowMax:
    case OpKind::kLossRowSum:
    case OpKind::kLossGradient:
    case OpKind::kFill:
    case OpKind::kCopy:
    case OpKind::kCopyColumns:
    case OpKind::kRouteForward:
    case OpKind::kRouteBackward:
    case OpKind::kDispatch:
    case OpKind::kCombine:
    case OpKind::kCombineBackward:
    case OpKind::kGroupedGemm:
    case OpKind::kImage:
    case OpKind::kConvolution:
    case OpKind::kConvolutionInputGradient:
    case OpKind::kConvolutionWeightGradient:
    case OpKind::kPool:
    case OpKind::kPoolGradient:
    case OpKind::kAllReduce:
    case OpKind::kAllGather:
    case OpKind::kReduceScatter:
    case OpKind::kBroadcast:
    case OpKind::kRingShift:
    case OpKind::kAllToAll:
      return op.accumulate;
  }
  SW_CHECK(false, "a known operation kind");
}

bool writes_counted_rows(const Operation& op) {
  switch (op.kind) {
    case OpKind::kDispatch:
    case OpKind::kCombineBackward:
      return true;
    case OpKind::kGroupedGemm:
      return !op.transpose_a;
    case OpKind::kActivationForward:
    case OpKind::kAllToAll:
      return op.inputs.size() > 1;
    case OpKind::kActivationBackward:
      return op.inputs.size() > 2;
    default:
      return false;
  }
}

bool is_collective(const Operation& op) {
  return class_of(op.kind) == OpClass::kCollective;
}

Flops flops_of(const Operation& op) {
  return flops_of(op.kind, op.variant, op.shape, op.causal);
}

Bytes bytes_moved(const Operation& op) {
  const double elements = elements_moved(op.kind, op.variant, op.shape);
  if (op.source) {  // read in one type, written in the other
    const std::int64_t both = size_of(op.dtype).count() + size_of(*op.source).count();
    return Bytes(std::llround(elements / 2 * static_cast<double>(both)));
  }
  return Bytes(std::llround(elements * static_cast<double>(size_of(op.dtype).count())));
}

namespace {
void append_flag(std::string& text, bool flag, std::string_view name) {
  if (flag) {
    text += ' ';
    text += name;
  }
}

/// Sizes that a kind does not use are 1 and stay out of the text.
void append_size(std::string& text,
                 std::string_view name,
                 std::int64_t size,
                 std::int64_t unused = 1) {
  if (size != unused) {
    fmt::format_to(std::back_inserter(text), " {}={}", name, size);
  }
}
}  // namespace

std::string cost_key(const Operation& op) {
  std::string text = fmt::format("{} {}", name_of(op.kind), name_of(op.dtype));
  if (op.variant != OpVariant::kNone) {
    text += ' ';
    text += name_of(op.variant);
  }
  if (op.source) {
    fmt::format_to(std::back_inserter(text), " from {}", name_of(*op.source));
  }
  append_flag(text, op.transpose_a, "ta");
  append_flag(text, op.transpose_b, "tb");
  append_flag(text, op.accumulate, "accumulate");
  append_flag(text, op.causal, "causal");
  append_flag(text, op.decay, "decay");
  append_size(text, "rows", op.shape.rows);
  append_size(text, "cols", op.shape.cols);
  append_size(text, "inner", op.shape.inner);
  append_size(text, "batch", op.shape.batch);
  append_size(text, "sequence", op.shape.sequence);
  append_size(text, "heads", op.shape.heads);
  append_size(text, "kv_heads", op.shape.kv_heads);
  append_size(text, "head_dim", op.shape.head_dim);
  for (const auto& [name, size] : kWindowSizes) {
    append_size(text, name, op.shape.window.*size, OpWindow{}.*size);
  }
  // Optional operands (a bias, a master copy) cost too.
  fmt::format_to(std::back_inserter(text), " {}>{}", op.inputs.size(), op.outputs.size());
  return text;
}

std::string cost_key(std::span<const Operation> ops) {
  std::string texts;
  for (const Operation& op : ops) {
    texts += cost_key(op);
    texts += '\n';
  }
  return content_hash(texts);
}

}  // namespace stagewright
