#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/ids.h"
#include "core/base/units.h"

namespace stagewright {

/// What a tensor is for: the tag under which memory is counted.
enum class TensorClass : std::uint8_t {
  kParameter,
  kGradient,
  kOptimizer,      ///< moments and master copies
  kActivation,     ///< lives from a forward to a backward, or inside one of them
  kWorkspace,      ///< scratch of one operation
  kCommunication,  ///< received and sent at a stage border
  kInput,          ///< tokens and targets
};
inline constexpr int kTensorClassCount = static_cast<int>(TensorClass::kInput) + 1;
[[nodiscard]] std::string_view name_of(TensorClass tensor_class);

enum class TensorScope : std::uint8_t {
  kPersistent,  ///< one instance, alive from start to end of the run
  kMicroBatch,  ///< one instance per micro-batch, alive from first write to last use
};

/// A tensor of one rank, after sharding.
struct TensorSpec {
  std::string name;  ///< "block.3.qkv", for reports
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  TensorClass tensor_class = TensorClass::kActivation;
  TensorScope scope = TensorScope::kMicroBatch;
  /// Set for a window into another (persistent) tensor, which owns the memory.
  struct View {
    TensorId base;
    std::int64_t offset = 0;  ///< in elements
    /// The member at position p of this group has the window that begins p * stride further on.
    std::optional<GroupSlot> group{};
    std::int64_t stride = 0;  ///< in elements
    friend bool operator==(const View&, const View&) = default;
  };
  std::optional<View> view;
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;

  [[nodiscard]] std::int64_t elements() const;
  [[nodiscard]] Bytes bytes() const;
};

}  // namespace stagewright
