#pragma once

#include <cstdint>

#include "runtime/compute/kernels/float_math.h"
#include "runtime/compute/kernels/portable.h"

/// Conversions between float and the 16-bit types, to the nearest value, ties to even (IEEE 754).
/// The bits are the same on every machine.
namespace stagewright::kernels {

/// bfloat16 is the upper half of a float.
SW_HOST_DEVICE std::uint16_t to_bfloat16(float x) {
  const std::uint32_t bits = bits_of(x);
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  const std::uint32_t rounded = bits + 0x7fffU + ((bits >> 16) & 1U);
  return static_cast<std::uint16_t>((is_nan ? bits | 0x00400000U : rounded) >> 16);
}

SW_HOST_DEVICE float from_bfloat16(std::uint16_t x) {
  return float_of(static_cast<std::uint32_t>(x) << 16);
}

/// 5 bits of exponent, 10 of fraction: beyond 65504 infinity, below 2^-24 zero.
SW_HOST_DEVICE std::uint16_t to_float16(float x) {
  constexpr std::uint32_t kTooLarge = (127U + 16U) << 23;  // 2^16
  constexpr std::uint32_t kSmallestNormal = (127U - 14U) << 23;
  // Added to a subnormal result, it moves the bits to be kept to the end of the fraction.
  constexpr std::uint32_t kAlign = ((127U - 15U) + (23U - 10U) + 1U) << 23;
  const std::uint32_t bits = bits_of(x);
  const std::uint32_t sign = bits & 0x80000000U;
  const std::uint32_t size = bits ^ sign;
  std::uint32_t half = 0;
  if (size >= kTooLarge) {
    half = size > 0x7f800000U ? 0x7e00U : 0x7c00U;
  } else if (size < kSmallestNormal) {
    half = bits_of(float_of(size) + float_of(kAlign)) - kAlign;
  } else {
    const std::uint32_t odd = (size >> 13) & 1U;
    half = (size - ((127U - 15U) << 23) + 0xfffU + odd) >> 13;
  }
  return static_cast<std::uint16_t>(half | (sign >> 16));
}

SW_HOST_DEVICE float from_float16(std::uint16_t x) {
  constexpr std::uint32_t kExponent = 0x7c00U << 13;
  const std::uint32_t sign = static_cast<std::uint32_t>(x & 0x8000U) << 16;
  std::uint32_t bits = static_cast<std::uint32_t>(x & 0x7fffU) << 13;
  const std::uint32_t exponent = bits & kExponent;
  bits += (127U - 15U) << 23;
  if (exponent == kExponent) {  // infinity, NaN
    bits += (128U - 16U) << 23;
  } else if (exponent == 0) {  // zero, subnormal
    constexpr std::uint32_t kNormalize = (127U - 14U) << 23;
    bits = bits_of(float_of(bits + (1U << 23)) - float_of(kNormalize));
  }
  return float_of(bits | sign);
}

struct ToBFloat16 {
  const float* x;
  std::uint16_t* y;
  SW_HOST_DEVICE void operator()(Index i) const { y[i] = to_bfloat16(x[i]); }
  static constexpr Index kPack = 8;
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    visit.read(x);
    visit.write(y);
  }
};

struct FromBFloat16 {
  const std::uint16_t* x;
  float* y;
  SW_HOST_DEVICE void operator()(Index i) const { y[i] = from_bfloat16(x[i]); }
  static constexpr Index kPack = 8;
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    visit.read(x);
    visit.write(y);
  }
};

struct ToFloat16 {
  const float* x;
  std::uint16_t* y;
  SW_HOST_DEVICE void operator()(Index i) const { y[i] = to_float16(x[i]); }
  static constexpr Index kPack = 8;
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    visit.read(x);
    visit.write(y);
  }
};

struct FromFloat16 {
  const std::uint16_t* x;
  float* y;
  SW_HOST_DEVICE void operator()(Index i) const { y[i] = from_float16(x[i]); }
  static constexpr Index kPack = 8;
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    visit.read(x);
    visit.write(y);
  }
};

void convert(const ToBFloat16& kernel, Index count);
void convert(const FromBFloat16& kernel, Index count);
void convert(const ToFloat16& kernel, Index count);
void convert(const FromFloat16& kernel, Index count);

}  // namespace stagewright::kernels
