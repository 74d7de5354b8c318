#pragma once

#include <bit>
#include <cstdint>

#include "runtime/compute/kernels/portable.h"

/// Functions that the CPU compiler can turn into SIMD code, with the same
/// result on every machine of one instruction set.
namespace stagewright::kernels {

SW_HOST_DEVICE std::uint32_t bits_of(float x) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(x);
#else
  return std::bit_cast<std::uint32_t>(x);
#endif
}

SW_HOST_DEVICE float float_of(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

/// exp(x) to about 1 ulp; saturates outside [-87, 88] (2e-38 and 2e38), NaN
/// stays NaN.  Polynomial of Cephes `expf` (S. Moshier) on |r| <= ln(2) / 2.
SW_HOST_DEVICE float fast_exp(float x) {
#if defined(__CUDA_ARCH__)
  return __expf(x);
#else
  x = x < -87.0F ? -87.0F : x;
  x = x > 88.0F ? 88.0F : x;
  // Adding 1.5 * 2^23 rounds to the nearest integer k, which then stands in the
  // low bits of the sum.  Unlike floor() this needs no instruction beyond SSE2.
  const float shifted = x * 1.44269504F + 12582912.0F;
  const float k = shifted - 12582912.0F;
  const float r = (x - k * 0.693359375F) + k * 2.12194440e-4F;  // x - k ln(2), ln(2) in two parts
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  return p * float_of((bits_of(shifted) << 23) + 0x3f800000U);  // p * 2^k
#endif
}

/// 1 / (1 + exp(-x)).
SW_HOST_DEVICE float sigmoid(float x) {
  return 1.0F / (1.0F + fast_exp(-x));
}

}  // namespace stagewright::kernels
