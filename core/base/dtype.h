#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/result.h"
#include "core/base/units.h"

namespace stagewright {

/// Element type of a tensor.
enum class DType : std::uint8_t {
  kFloat32,
  kTf32,
  kBFloat16,
  kFloat16,
  kFloat8,
  kInt32
};

/// Bytes that one element takes in memory (tf32 is stored as float32).
[[nodiscard]] Bytes size_of(DType type);
/// "fp32", "tf32", "bf16", "fp16", "fp8", "int32".
[[nodiscard]] std::string_view name_of(DType type);
/// Reads a name back; the error lists the known ones.
[[nodiscard]] Result<DType> parse_dtype(std::string_view name);

}  // namespace stagewright
