#include "planner/lower/rules/rules.h"

#include "core/base/check.h"

namespace stagewright {

OpRule rule_of(LayerOpKind kind) {
  switch (kind) {
    case LayerOpKind::kEmbedding:
      return embedding_rule();
    case LayerOpKind::kPosition:
      return position_rule();
    case LayerOpKind::kNorm:
      return norm_rule();
    case LayerOpKind::kLinear:
      return linear_rule();
    case LayerOpKind::kRope:
      return rope_rule();
    case LayerOpKind::kAttention:
      return attention_rule();
    case LayerOpKind::kActivation:
      return activation_rule();
    case LayerOpKind::kAdd:
      return add_rule();
    case LayerOpKind::kDropout:
      return dropout_rule();
    case LayerOpKind::kCrossEntropy:
      return cross_entropy_rule();
    case LayerOpKind::kSquaredError:
      return squared_error_rule();
    case LayerOpKind::kExperts:
      return experts_rule();
    case LayerOpKind::kImage:
      return image_rule();
    case LayerOpKind::kConvolution:
      return convolution_rule();
    case LayerOpKind::kPool:
      return pool_rule();
  }
  SW_CHECK(false, "a known layer operation");
}

}  // namespace stagewright
