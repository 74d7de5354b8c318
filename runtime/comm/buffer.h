#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/comm/element_type.h"

namespace stagewright {

/// Elements that an operation reads.  Not owned: they must stay valid and unchanged until
/// the operation's event is ready.
struct SendBuffer {
  const void* data = nullptr;
  std::size_t count = 0;  ///< elements, not bytes
  ElementType type = ElementType::kFloat32;
};

/// Elements that an operation writes.  Not owned: nobody else may touch them until the
/// operation's event is ready.
struct RecvBuffer {
  void* data = nullptr;
  std::size_t count = 0;  ///< elements, not bytes
  ElementType type = ElementType::kFloat32;
};

[[nodiscard]] inline SendBuffer send_buffer(std::span<const float> values) {
  return {values.data(), values.size(), ElementType::kFloat32};
}
[[nodiscard]] inline SendBuffer send_buffer(std::span<const std::int32_t> values) {
  return {values.data(), values.size(), ElementType::kInt32};
}
[[nodiscard]] inline SendBuffer send_buffer(std::span<const std::byte> bytes) {
  return {bytes.data(), bytes.size(), ElementType::kByte};
}
[[nodiscard]] inline RecvBuffer recv_buffer(std::span<float> values) {
  return {values.data(), values.size(), ElementType::kFloat32};
}
[[nodiscard]] inline RecvBuffer recv_buffer(std::span<std::int32_t> values) {
  return {values.data(), values.size(), ElementType::kInt32};
}
[[nodiscard]] inline RecvBuffer recv_buffer(std::span<std::byte> bytes) {
  return {bytes.data(), bytes.size(), ElementType::kByte};
}

}  // namespace stagewright
