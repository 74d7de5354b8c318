#include "planner/search/replica_prices.h"

namespace stagewright {

Duration ReplicaPrices::of(OpKind kind, Bytes bytes) {
  const auto [known, unknown] = known_.try_emplace(static_cast<std::uint64_t>(bytes.count()) << 8U ^
                                                   static_cast<std::uint64_t>(kind));
  if (!unknown) {
    return known->second;
  }
  Operation op;
  op.kind = kind;
  op.variant = OpVariant::kSum;
  op.dtype = DType::kFloat32;
  op.shape.cols = bytes.count() / size_of(op.dtype).count();
  if (op.shape.cols > 0) {
    known->second = machine_->cost->collective(op, group_).time;
  }
  return known->second;
}

}  // namespace stagewright
