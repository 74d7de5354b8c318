#pragma once

#include <cstdint>

#include "runtime/compute/kernels/convert.h"
#include "runtime/compute/kernels/portable.h"

/// Reductions of messages between ranks, one input after the other: sum[i] becomes sum[i] + x[i],
/// or the larger of the two.
namespace stagewright::kernels {

template <class T>
struct Combine {
  T* sum;
  const T* x;
  bool maximum;
  SW_HOST_DEVICE void operator()(Index i) const {
    const T a = sum[i];
    const T b = x[i];
    sum[i] = maximum ? (a < b ? b : a) : a + b;
  }
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    visit.change(sum);
    visit.read(x);
  }
};
using CombineFloat32 = Combine<float>;
using CombineInt32 = Combine<std::int32_t>;

/// Adds as float and rounds.
struct CombineBFloat16 {
  std::uint16_t* sum;
  const std::uint16_t* x;
  bool maximum;
  SW_HOST_DEVICE void operator()(Index i) const {
    const float a = from_bfloat16(sum[i]);
    const float b = from_bfloat16(x[i]);
    sum[i] = to_bfloat16(maximum ? (a < b ? b : a) : a + b);
  }
  static constexpr Index kPack = 8;
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    visit.change(sum);
    visit.read(x);
  }
};
struct CombineFloat16 {
  std::uint16_t* sum;
  const std::uint16_t* x;
  bool maximum;
  SW_HOST_DEVICE void operator()(Index i) const {
    const float a = from_float16(sum[i]);
    const float b = from_float16(x[i]);
    sum[i] = to_float16(maximum ? (a < b ? b : a) : a + b);
  }
  static constexpr Index kPack = 8;
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    visit.change(sum);
    visit.read(x);
  }
};

}  // namespace stagewright::kernels
