#include "runtime/executor/post_collective.h"

#include <cstddef>

#include "core/base/check.h"

namespace stagewright {

namespace {

[[nodiscard]] ElementType element_type(DType type) {
  switch (type) {
    case DType::kFloat32:
    case DType::kTf32:
      return ElementType::kFloat32;
    case DType::kInt32:
      return ElementType::kInt32;
    case DType::kBFloat16:
      return ElementType::kBFloat16;
    case DType::kFloat16:
      return ElementType::kFloat16;
    case DType::kFloat8:
      return ElementType::kByte;
  }
  SW_CHECK(false, "a known element type");
}

}  // namespace

Event post_collective(const Operation& operation,
                      Communicator& group,
                      const CollectiveOperands& operands,
                      Stream& stream,
                      const Event& after) {
  const void* in = operands.in;
  void* out = operands.out;
  const ElementType type = element_type(operation.dtype);
  const auto whole = static_cast<std::size_t>(operation.shape.cols);
  const std::size_t part = whole / static_cast<std::size_t>(group.size());
  switch (operation.kind) {
    case OpKind::kAllReduce: {
      const bool maximum = operation.variant == OpVariant::kMaximum;
      return group.all_reduce({in, whole, type},
                              {out, whole, type},
                              maximum ? Reduction::kMax : Reduction::kSum,
                              stream,
                              after);
    }
    case OpKind::kAllGather:
      return group.all_gather({in, part, type}, {out, whole, type}, stream, after);
    case OpKind::kReduceScatter:
      return group.reduce_scatter(
          {in, whole, type}, {out, part, type}, Reduction::kSum, stream, after);
    case OpKind::kAllToAll: {
      // Of counted rows there is room for more than are expected.
      const auto all = static_cast<std::size_t>(operands.elements);
      PartRows rows;
      if (operands.counts != nullptr) {
        rows = {.counts = operands.counts,
                .experts = static_cast<std::size_t>(operation.shape.heads),
                .width = static_cast<std::size_t>(operation.shape.inner)};
      }
      return group.all_to_all({in, all, type}, {out, all, type}, rows, stream, after);
    }
    case OpKind::kRingShift:
      return group.ring_shift({in, whole, type}, {out, whole, type}, stream, after);
    case OpKind::kBroadcast:
      return group.broadcast({out, whole, type}, static_cast<int>(operation.index), stream, after);
    default:
      break;
  }
  SW_CHECK(false, "a collective");
}

}  // namespace stagewright
