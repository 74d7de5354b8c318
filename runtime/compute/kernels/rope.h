#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "runtime/compute/kernels/operands_in_packs.h"
#include "runtime/compute/kernels/portable.h"
#include "runtime/compute/kernels/token_places.h"

/// Rotary position embedding (Su et al. 2021) in the half-rotation form of
/// Llama: of a head x of `head_dim` elements, the pair (x[i], x[i + head_dim/2])
/// is turned by the angle position * theta^(-2 i / head_dim).
namespace stagewright::kernels {

struct SineCosine {
  double sine;
  double cosine;
};

/// Sine and cosine to 1e-11 for |angle| < 1e6, in a form that becomes SIMD code.
/// Reduction by k pi/2 in two parts as in fdlibm, then Taylor polynomials.
SW_HOST_DEVICE SineCosine sine_cosine(double angle) {
  // Adding 1.5 * 2^52 leaves the nearest integer in the low bits of the sum.
  const double shifted = angle * 0.63661977236758134308 + 6755399441055744.0;
  const double k = shifted - 6755399441055744.0;
  const double r = (angle - k * 1.57079632673412561417) - k * 6.07710050650619224932e-11;
  const double z = r * r;
  double s = -1.0 / 39916800.0;
  s = s * z + 1.0 / 362880.0;
  s = s * z - 1.0 / 5040.0;
  s = s * z + 1.0 / 120.0;
  s = s * z - 1.0 / 6.0;
  s = s * z * r + r;
  double c = 1.0 / 479001600.0;
  c = c * z - 1.0 / 3628800.0;
  c = c * z + 1.0 / 40320.0;
  c = c * z - 1.0 / 720.0;
  c = c * z + 1.0 / 24.0;
  c = c * z - 0.5;
  c = c * z + 1.0;
#if defined(__CUDA_ARCH__)
  const auto quadrant = static_cast<std::uint64_t>(__double_as_longlong(shifted));
#else
  const auto quadrant = std::bit_cast<std::uint64_t>(shifted);
#endif
  const double odd_sine = (quadrant & 1) != 0 ? c : s;
  const double odd_cosine = (quadrant & 1) != 0 ? s : c;
  return {(quadrant & 2) != 0 ? -odd_sine : odd_sine,
          ((quadrant + 1) & 2) != 0 ? -odd_cosine : odd_cosine};
}

/// Turns the first `heads` heads of each row of x, [tokens, stride], in place.
template <class T>
struct RopeRotation {
  T* x;
  const double* frequencies;  ///< [head_dim / 2]: theta^(-2 i / head_dim), negative to turn back
  Index stride;
  Index heads;
  Index head_dim;
  TokenPlaces places;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const Index half = head_dim / 2;
    const auto position = static_cast<double>(places.in_sequence(row));
    const double* frequency = frequencies;
    float* cosine = team.scratch();
    float* sine = cosine + half;
    team.each(half, [=](Index i) {
      const SineCosine turn = sine_cosine(position * frequency[i]);
      cosine[i] = static_cast<float>(turn.cosine);
      sine[i] = static_cast<float>(turn.sine);
    });
    team.sync();
    for (Index head = 0; head < heads; ++head) {
      T* low = x + row * stride + head * head_dim;
      T* high = low + half;
      const auto turn = [](Index i, T* x_low, T* x_high, const float* c, const float* s) {
        const auto a = static_cast<float>(x_low[i]);
        const auto b = static_cast<float>(x_high[i]);
        x_low[i] = static_cast<T>(a * c[i] - b * s[i]);
        x_high[i] = static_cast<T>(b * c[i] + a * s[i]);
      };
      team.each(half,
                over(turn, changes(low), changes(high), reads<float>(cosine), reads<float>(sine)));
    }
    team.sync();
  }
};

/// [head_dim / 2]: direction * theta^(-2 i / head_dim); `direction` is 1 for the turn and -1 for
/// its inverse, the transpose.
[[nodiscard]] std::vector<double> rope_frequencies(Index head_dim, double theta, double direction);

/// Turns q and k of packed rows in place; v stays.
struct Rope {
  float* qkv;  ///< [tokens, (heads + 2 kv_heads) * head_dim]: q heads, k heads, v heads
  Index heads;
  Index kv_heads;
  Index head_dim;      ///< even, at most 1024
  TokenPlaces places;  ///< of the tokens in their sequences
  double theta = 10000.0;
};
void rope_forward(const Rope& arguments, Index tokens);
/// `qkv` holds the gradient of the turned heads and becomes the gradient of the
/// heads before the turn.
void rope_backward(const Rope& arguments, Index tokens);

}  // namespace stagewright::kernels
