#include "runtime/compute/kernels/random.h"

#include <cmath>
#include <numbers>

#include "core/base/check.h"
#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {
namespace {

// Strictly between 0 and 1.
double open_fraction(std::uint32_t word) {
  return (static_cast<double>(word) + 0.5) * 0x1p-32;
}

// The four numbers of one Philox block: two pairs of a radius and an angle.
void normals(const PhiloxWords& words, double* out) {
  for (int pair = 0; pair < 2; ++pair) {
    const double radius = std::sqrt(-2.0 * std::log(open_fraction(words.word[2 * pair])));
    const double angle = 2.0 * std::numbers::pi * open_fraction(words.word[2 * pair + 1]);
    out[2 * pair] = radius * std::cos(angle);
    out[2 * pair + 1] = radius * std::sin(angle);
  }
}

}  // namespace

void dropout(const Dropout<float>& kernel, Index rows) {
  SW_CHECK(kernel.probability >= 0.0F && kernel.probability < 1.0F, "a probability below 1");
  launch_rows(rows, kernel);
}

std::uint64_t seed_of_step(std::uint64_t seed, std::int64_t step) {
  // Apart from the streams of weights, which are hashes of names.
  constexpr std::uint64_t kStepStream = 0x73746570;  // "step"
  const PhiloxWords words = philox(static_cast<std::uint64_t>(step), kStepStream, seed);
  return (static_cast<std::uint64_t>(words.word[1]) << 32) | words.word[0];
}

void fill_normal(const NormalFill& arguments) {
  double block[4] = {};
  for (Index row = 0; row < arguments.rows; ++row) {
    const Index begin = arguments.slice.index_of(row);
    for (Index column = 0; column < arguments.width; ++column) {
      const Index index = begin + column;
      if (index % 4 == 0 || column == 0) {
        const auto counter = static_cast<std::uint64_t>(index / 4);
        normals(philox(counter, arguments.stream, arguments.seed), block);
      }
      arguments.y[row * arguments.width + column] =
          static_cast<float>(arguments.mean + arguments.deviation * block[index % 4]);
    }
  }
}

}  // namespace stagewright::kernels
