#include "runtime/comm/reduce.h"

#include <cstdint>

#include "core/base/check.h"

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
    case ElementType::kInt32:
      return accumulate_as<std::int32_t>(reduction, sum, in, count);
    case ElementType::kByte:
      SW_CHECK(false, "bytes are moved, never reduced");
  }
}

}  // namespace stagewright
