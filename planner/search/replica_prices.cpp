#include "planner/search/replica_prices.h"

#include <algorithm>

namespace stagewright {

Duration ReplicaPrices::of(OpKind kind, Bytes bytes) {
  const auto found = std::ranges::find_if(
      known_, [&](const Known& known) { return known.kind == kind && known.bytes == bytes; });
  if (found != known_.end()) {
    return found->time;
  }
  Operation op;
  op.kind = kind;
  op.variant = OpVariant::kSum;
  op.dtype = DType::kFloat32;
  op.shape.cols = bytes.count() / size_of(op.dtype).count();
  const Duration time =
      op.shape.cols == 0 ? Duration{} : machine_->cost->collective(op, group_).time;
  known_.push_back({kind, bytes, time});
  return time;
}

}  // namespace stagewright
