#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/compute/compute_device.h"
#include "runtime/compute/kernels/token_places.h"

namespace stagewright {

/// Operands by position; one that may be left out is null when it is.
class Operands {
 public:
  explicit Operands(const BoundOperation& bound) : bound_(bound) {}

  template <class T = float>
  [[nodiscard]] T* in(std::size_t i) const {
    return at<T>(bound_.inputs, i);
  }
  template <class T = float>
  [[nodiscard]] T* out(std::size_t i) const {
    return at<T>(bound_.outputs, i);
  }
  [[nodiscard]] const std::int32_t* tokens(std::size_t i) const {
    return at<std::int32_t>(bound_.inputs, i);
  }
  [[nodiscard]] const Operation& op() const { return *bound_.operation; }
  [[nodiscard]] const OpShape& shape() const { return bound_.operation->shape; }
  [[nodiscard]] std::int64_t elements() const { return shape().rows * shape().cols; }
  [[nodiscard]] std::span<const UpdateRange> ranges() const { return bound_.ranges; }
  [[nodiscard]] std::int64_t first_token() const { return bound_.first_token; }
  /// Of the operation's rows, where it tells how many tokens of a sequence are here.
  [[nodiscard]] kernels::TokenPlaces token_places() const {
    return {.tokens = shape().sequence,
            .part = bound_.sequence_part,
            .parts = bound_.sequence_parts,
            .first_row = bound_.slice_begin};
  }
  [[nodiscard]] std::int64_t slice_begin() const { return bound_.slice_begin; }
  /// Entries of the vocabulary here: those of the slice, else all `whole`.
  [[nodiscard]] std::int64_t slice_size(std::int64_t whole) const {
    return op().slice ? bound_.slice_end - bound_.slice_begin : whole;
  }

 private:
  template <class T>
  [[nodiscard]] static T* at(std::span<void* const> list, std::size_t i) {
    return i < list.size() ? static_cast<T*>(list[i]) : nullptr;
  }

  const BoundOperation& bound_;
};

}  // namespace stagewright
