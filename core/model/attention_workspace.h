#pragma once

#include <cstdint>

#include "core/model/op.h"

namespace stagewright {

/// Query rows that the blockwise attention kernel works on at a time: scores of one block and all
/// keys stay in the second-level cache up to a few thousand tokens.
inline constexpr std::int64_t kAttentionBlockRows = 64;

/// Elements (fp32) of the workspace operand of kAttentionForward and kAttentionBackward on a
/// device with the capability "blockwise-attention": scores of one block of query rows against
/// all keys, and in the backward their gradients beside them.  Lowering makes the tensor with
/// it, the kernel asks for no more.
[[nodiscard]] constexpr std::int64_t attention_workspace_elements(const OpShape& shape,
                                                                  bool backward) {
  return (backward ? 2 : 1) * kAttentionBlockRows * shape.sequence;
}

}  // namespace stagewright
