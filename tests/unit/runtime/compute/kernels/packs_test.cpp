#include "runtime/compute/kernels/packs.h"

#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/compute/kernels/convert.h"
#include "runtime/compute/kernels/layer_norm.h"
#include "runtime/compute/kernels/optimizer.h"

namespace stagewright::kernels {
namespace {

/// Arrays that begin `offset` elements behind a multiple of 16 bytes.
template <class T>
class Array {
 public:
  Array(Index count, Index offset)
      : memory_(static_cast<std::size_t>(count + offset) + kSlack), offset_(offset) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    offset_ += static_cast<Index>((16 - address % 16) % 16 / sizeof(T));
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      memory_[i] = static_cast<T>(3 + 7 * i % 23);
    }
  }
  [[nodiscard]] T* data() { return memory_.data() + offset_; }
  [[nodiscard]] const std::vector<T>& memory() const { return memory_; }

 private:
  static constexpr std::size_t kSlack = 16;
  std::vector<T> memory_;
  Index offset_;
};

/// By three threads, as a GPU shares the elements.
template <class Body>
void run_by_threads(Index count, const Body& body) {
  constexpr Index kThreads = 3;
  for (Index thread = 0; thread < kThreads; ++thread) {
    run_each(count, thread, kThreads, body);
  }
}

TEST(Packs, AreTakenWhereAllOperandsAreAligned) {
  Array<float> a(8, 0);
  Array<float> b(8, 1);
  EXPECT_TRUE(can_take_packs(over([](Index, const float*) {}, reads(a.data()))));
  EXPECT_FALSE(
      can_take_packs(over([](Index, const float*, float*) {}, reads(a.data()), writes(b.data()))));
}

// Every count around packs and tails, aligned and not: the same as one element at a time, and
// nothing behind the end.
TEST(Packs, ComputeWhatSingleElementsDo) {
  for (const Index offset : {0, 1}) {
    for (Index count = 0; count < 30; ++count) {
      Array<float> expected_p(count, offset);
      Array<float> expected_v(count, 0);
      Array<float> p(count, offset);
      Array<float> v(count, 0);
      Array<float> g(count, 0);
      const SgdUpdate single{
          expected_p.data(), g.data(), expected_v.data(), 0.5F, 0.25F, 2.0F, 1.0F};
      for (Index i = 0; i < count; ++i) {
        single(i);
      }
      run_by_threads(count, SgdUpdate{p.data(), g.data(), v.data(), 0.5F, 0.25F, 2.0F, 1.0F});
      EXPECT_EQ(p.memory(), expected_p.memory()) << count << " from " << offset;
      EXPECT_EQ(v.memory(), expected_v.memory()) << count << " from " << offset;
    }
  }
}

TEST(Packs, ConvertBetweenWidths) {
  constexpr Index kCount = 21;
  Array<float> x(kCount, 0);
  Array<std::uint16_t> expected(kCount, 0);
  Array<std::uint16_t> actual(kCount, 0);
  for (Index i = 0; i < kCount; ++i) {
    ToBFloat16{x.data(), expected.data()}(i);
  }
  run_by_threads(kCount, ToBFloat16{x.data(), actual.data()});
  EXPECT_EQ(actual.memory(), expected.memory());
}

TEST(Packs, WorkInPlace) {
  constexpr Index kCount = 18;
  Array<float> expected(kCount, 0);
  Array<float> actual(kCount, 0);
  const auto twice_and_one = [](Index i, const float* x, float* y) { y[i] = 2 * x[i] + 1; };
  for (Index i = 0; i < kCount; ++i) {
    twice_and_one(i, expected.data(), expected.data());
  }
  run_by_threads(kCount, over(twice_and_one, reads(actual.data()), writes(actual.data())));
  EXPECT_EQ(actual.memory(), expected.memory());
}

TEST(Packs, JoinTermsThatAlsoWrite) {
  constexpr Index kCount = 19;
  Array<float> x(kCount, 0);
  float expected = 0;
  for (Index i = 0; i < kCount; ++i) {
    expected += x.data()[i];
  }
  const auto take = [](Index i, float* from) {
    const float value = from[i];
    from[i] = 0;
    return value;
  };
  float sum = 0;
  for (const Index thread : {0, 1}) {
    sum = join_each(kCount, thread, 2, sum, over(take, changes(x.data())), [](float a, float b) {
      return a + b;
    });
  }
  EXPECT_EQ(sum, expected);  // small whole numbers: exact in any order
  for (Index i = 0; i < kCount; ++i) {
    EXPECT_EQ(x.data()[i], 0) << i;
  }
}

}  // namespace
}  // namespace stagewright::kernels
