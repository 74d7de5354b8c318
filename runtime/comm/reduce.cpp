#include "runtime/comm/reduce.h"

#include <cstdint>

#include "core/base/check.h"
#include "runtime/compute/kernels/convert.h"

namespace stagewright {

namespace {

struct Sum {
  float operator()(float a, float b) const { return a + b; }
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  }
};

struct Max {
  float operator()(float a, float b) const { return b > a || b != b ? b : a; }
  std::int32_t operator()(std::int32_t a, std::int32_t b) const { return b > a ? b : a; }
};

template <class T, class Combine>
void accumulate_as(void* sum, const void* in, std::size_t count, Combine combine) {
  T* const target = static_cast<T*>(sum);
  const T* const source = static_cast<const T*>(in);
  for (std::size_t i = 0; i < count; ++i) {
    target[i] = combine(target[i], source[i]);
  }
}

/// A 16-bit type in which nothing is computed.
template <float (*kWiden)(std::uint16_t), std::uint16_t (*kNarrow)(float), class Combine>
void accumulate_narrow(void* sum, const void* in, std::size_t count, Combine combine) {
  auto* const target = static_cast<std::uint16_t*>(sum);
  const auto* const source = static_cast<const std::uint16_t*>(in);
  for (std::size_t i = 0; i < count; ++i) {
    target[i] = kNarrow(combine(kWiden(target[i]), kWiden(source[i])));
  }
}

template <float (*kWiden)(std::uint16_t), std::uint16_t (*kNarrow)(float)>
void accumulate_narrow(Reduction reduction, void* sum, const void* in, std::size_t count) {
  switch (reduction) {
    case Reduction::kSum:
      return accumulate_narrow<kWiden, kNarrow>(sum, in, count, Sum{});
    case Reduction::kMax:
      return accumulate_narrow<kWiden, kNarrow>(sum, in, count, Max{});
  }
}

template <class T>
void accumulate_as(Reduction reduction, void* sum, const void* in, std::size_t count) {
  switch (reduction) {
    case Reduction::kSum:
      return accumulate_as<T>(sum, in, count, Sum{});
    case Reduction::kMax:
      return accumulate_as<T>(sum, in, count, Max{});
  }
}

}  // namespace

void accumulate(
    ElementType type, Reduction reduction, void* sum, const void* in, std::size_t count) {
  switch (type) {
    case ElementType::kFloat32:
      return accumulate_as<float>(reduction, sum, in, count);
    case ElementType::kBFloat16:
      return accumulate_narrow<kernels::from_bfloat16, kernels::to_bfloat16>(
          reduction, sum, in, count);
    case ElementType::kFloat16:
      return accumulate_narrow<kernels::from_float16, kernels::to_float16>(
          reduction, sum, in, count);
    case ElementType::kInt32:
      return accumulate_as<std::int32_t>(reduction, sum, in, count);
    case ElementType::kByte:
      SW_CHECK(false, "bytes are moved, never reduced");
  }
}

}  // namespace stagewright
