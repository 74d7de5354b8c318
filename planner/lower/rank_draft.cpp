#include "planner/lower/rank_draft.h"

#include <utility>

#include "core/base/check.h"

namespace stagewright {

TensorId RankDraft::add_tensor(TensorSpec spec) {
  const TensorId id(program.tensors.size());
  program.tensors.push_back(std::move(spec));
  return id;
}

const HeldWeight& RankDraft::held(WeightId root) const {
  const auto found = weight_index.find(root);
  SW_CHECK(found != weight_index.end(), "a weight that the rank holds");
  return weights[found->second];
}

DType storage_type(DType type) {
  switch (type) {
    case DType::kTf32:
      return DType::kFloat32;
    case DType::kFloat8:
      return DType::kBFloat16;
    default:
      return type;
  }
}

}  // namespace stagewright
