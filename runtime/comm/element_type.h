#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stagewright {

/// What communication moves.  Bytes can be moved but not reduced.
enum class ElementType : std::uint8_t {
  kFloat32,
  kBFloat16,
  kFloat16,
  kInt32,
  kByte
};

enum class Reduction : std::uint8_t {
  kSum,
  kMax
};

[[nodiscard]] constexpr std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
    case ElementType::kInt32:
      return 4;
    case ElementType::kBFloat16:
    case ElementType::kFloat16:
      return 2;
    case ElementType::kByte:
      return 1;
  }
  return 0;
}

[[nodiscard]] constexpr std::string_view name_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return "float32";
    case ElementType::kBFloat16:
      return "bfloat16";
    case ElementType::kFloat16:
      return "float16";
    case ElementType::kInt32:
      return "int32";
    case ElementType::kByte:
      return "byte";
  }
  return "";
}

[[nodiscard]] constexpr std::string_view name_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum:
      return "sum";
    case Reduction::kMax:
      return "max";
  }
  return "";
}

}  // namespace stagewright
