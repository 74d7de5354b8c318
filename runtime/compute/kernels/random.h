#pragma once

#include <cstdint>

#include "runtime/compute/kernels/operands_in_packs.h"
#include "runtime/compute/kernels/portable.h"
#include "runtime/compute/kernels/token_places.h"

/// Random numbers that are a function of (seed, stream, index of the element in
/// the whole tensor): every layout draws the same ones, and a recomputation
/// draws them again.
namespace stagewright::kernels {

struct PhiloxWords {
  std::uint32_t word[4];
};

/// Philox 4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1,
/// 2, 3"), with the seed as key and (counter, stream) as counter.
SW_HOST_DEVICE PhiloxWords philox(std::uint64_t counter, std::uint64_t stream, std::uint64_t seed) {
  auto c0 = static_cast<std::uint32_t>(counter);
  auto c1 = static_cast<std::uint32_t>(counter >> 32);
  auto c2 = static_cast<std::uint32_t>(stream);
  auto c3 = static_cast<std::uint32_t>(stream >> 32);
  auto k0 = static_cast<std::uint32_t>(seed);
  auto k1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53U} * c0;
    const std::uint64_t b = std::uint64_t{0xCD9E8D57U} * c2;
    c0 = static_cast<std::uint32_t>(b >> 32) ^ c1 ^ k0;
    c2 = static_cast<std::uint32_t>(a >> 32) ^ c3 ^ k1;
    c1 = static_cast<std::uint32_t>(b);
    c3 = static_cast<std::uint32_t>(a);
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return {{c0, c1, c2, c3}};
}

/// Where a matrix of a rank lies in the whole tensor, seen as a matrix.
struct TensorSlice {
  Index first_row = 0;
  Index first_column = 0;
  Index global_width;  ///< columns of the whole tensor
  /// Index in the whole tensor of the first element of a local row.
  [[nodiscard]] SW_HOST_DEVICE Index index_of(Index row) const {
    return (first_row + row) * global_width + first_column;
  }
};

/// y = x / (1 - probability) for the elements that are kept and 0 for those that
/// are dropped, each with `probability`.  Element i of the whole tensor is kept
/// when word i % 4 of philox(i / 4), as a fraction, is at least `probability`.
/// The same call on the output's gradient is the backward pass.  y may be x.
/// Shapes: x, y [rows, width].  `slice` begins with the micro-batch's first token.
template <class T>
struct Dropout {
  const T* x;
  T* y;
  Index width;
  TensorSlice slice;
  TokenPlaces places{};  ///< of the rows in the micro-batch; the usual ones: one after the other
  float probability;
  std::uint64_t seed;
  std::uint64_t stream;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    constexpr Index kChunk = 512;
    const float limit = probability;
    const float keep_scale = 1.0F / (1.0F - probability);
    const std::uint64_t key = seed;
    const std::uint64_t high = stream;
    float* uniform = team.scratch();
    for (Index first = 0; first < width; first += kChunk) {
      const Index left = width - first;
      const Index count = left < kChunk ? left : kChunk;
      const Index global = slice.index_of(places.in_micro_batch(row)) + first;
      const Index group = global / 4;
      const Index offset = global % 4;
      team.each((offset + count + 3) / 4, [=](Index i) {
        const PhiloxWords words = philox(static_cast<std::uint64_t>(group + i), high, key);
        float* out = uniform + 4 * i;
        // 24 bits, which a float holds exactly, in [0, 1); by int because only
        // signed conversion is one instruction everywhere.
        out[0] = static_cast<float>(static_cast<std::int32_t>(words.word[0] >> 8)) * 0x1p-24F;
        out[1] = static_cast<float>(static_cast<std::int32_t>(words.word[1] >> 8)) * 0x1p-24F;
        out[2] = static_cast<float>(static_cast<std::int32_t>(words.word[2] >> 8)) * 0x1p-24F;
        out[3] = static_cast<float>(static_cast<std::int32_t>(words.word[3] >> 8)) * 0x1p-24F;
      });
      team.sync();
      const T* in = x + row * width + first;
      T* out = y + row * width + first;
      const float* drawn = uniform + offset;
      const auto drop = [=](Index i, const T* from, const float* draws, T* to) {
        const float kept = static_cast<float>(from[i]) * keep_scale;
        to[i] = static_cast<T>(draws[i] >= limit ? kept : 0.0F);
      };
      team.each(count, over(drop, reads(in), reads(drawn), writes(out)));
      team.sync();
    }
  }
};

void dropout(const Dropout<float>& kernel, Index rows);

/// The seed of what a step drops: another one in each step of a run.
std::uint64_t seed_of_step(std::uint64_t seed, std::int64_t step);

/// y = mean + deviation * standard normal, by the Box-Muller transform in double.
/// Shape: y [rows, width].  A vector is one row.
struct NormalFill {
  float* y;
  Index rows;
  Index width;
  TensorSlice slice;
  double mean = 0.0;
  double deviation;
  std::uint64_t seed;
  std::uint64_t stream;  ///< for example a hash of the parameter's name
};
void fill_normal(const NormalFill& arguments);

}  // namespace stagewright::kernels
