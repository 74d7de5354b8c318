#include "runtime/compute/narrow_gemm.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/compute/cpu_device.h"
#include "runtime/compute/kernels/convert.h"

namespace stagewright {
namespace {

constexpr std::int64_t kRows = 37;
constexpr std::int64_t kColumns = 29;
constexpr std::int64_t kInner = 53;

/// By the device, whatever the machine has, or by NarrowGemm alone; and of which matrices.
struct Way {
  bool device = false;
  DType type = DType::kBFloat16;
};

/// A matrix of 16-bit numbers and what it holds.
struct Matrix {
  std::vector<std::uint16_t> narrow;
  std::vector<float> wide;

  Matrix(std::int64_t elements, std::uint32_t seed, DType type)
      : narrow(static_cast<std::size_t>(elements)), wide(narrow.size()) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    for (float& x : wide) {
      x = normal(engine);
    }
    if (type == DType::kFloat16) {
      kernels::convert(kernels::ToFloat16{wide.data(), narrow.data()}, elements);
    } else {
      kernels::convert(kernels::ToBFloat16{wide.data(), narrow.data()}, elements);
    }
    widen(narrow, wide, type);
  }

  static void widen(const std::vector<std::uint16_t>& from, std::vector<float>& to, DType type) {
    const auto count = static_cast<std::int64_t>(from.size());
    if (type == DType::kFloat16) {
      kernels::convert(kernels::FromFloat16{from.data(), to.data()}, count);
    } else {
      kernels::convert(kernels::FromBFloat16{from.data(), to.data()}, count);
    }
  }
};

class NarrowProducts : public testing::TestWithParam<Way> {
 protected:
  NarrowProducts() {
    op_.kind = OpKind::kGemm;
    op_.dtype = GetParam().type;
    op_.shape.rows = kRows;
    op_.shape.cols = kColumns;
    op_.shape.inner = kInner;
  }

  [[nodiscard]] double expected(std::int64_t row, std::int64_t column) const {
    double sum = 0;
    for (std::int64_t i = 0; i < kInner; ++i) {
      const std::int64_t a = op_.transpose_a ? i * kRows + row : row * kInner + i;
      const std::int64_t b = op_.transpose_b ? column * kInner + i : i * kColumns + column;
      sum += static_cast<double>(a_.wide[static_cast<std::size_t>(a)]) *
             static_cast<double>(b_.wide[static_cast<std::size_t>(b)]);
    }
    return sum;
  }

  void multiply(std::vector<void*> inputs, void* output, DType result) {
    const std::vector<OperandType> inputs_of = {{GetParam().type, kRows * kInner},
                                                {GetParam().type, kInner * kColumns},
                                                {GetParam().type, kColumns}};
    const std::vector<OperandType> outputs_of = {{result, kRows * kColumns}};
    const std::vector<void*> outputs = {output};
    const BoundOperation bound{.operation = &op_,
                               .inputs = inputs,
                               .outputs = outputs,
                               .input_types = std::span(inputs_of).first(inputs.size()),
                               .output_types = outputs_of};
    if (GetParam().device) {
      make_cpu_device()->execute(bound, {});
    } else if (NarrowGemm product; !product.run(bound)) {
      GTEST_SKIP() << "this machine multiplies no such matrices";
    }
  }

  Operation op_;
  Matrix a_{kRows * kInner, 1, GetParam().type};
  Matrix b_{kInner * kColumns, 2, GetParam().type};
};

TEST_P(NarrowProducts, RoundTheSumOnce) {
  Matrix bias(kColumns, 3, GetParam().type);
  for (const bool transposed : {false, true}) {
    op_.transpose_b = transposed;
    std::vector<std::uint16_t> narrow(static_cast<std::size_t>(kRows * kColumns));
    multiply(
        {a_.narrow.data(), b_.narrow.data(), bias.narrow.data()}, narrow.data(), GetParam().type);
    if (IsSkipped()) {
      return;
    }
    std::vector<float> c(narrow.size());
    Matrix::widen(narrow, c, GetParam().type);
    for (std::int64_t row = 0; row < kRows; ++row) {
      for (std::int64_t column = 0; column < kColumns; ++column) {
        const double sum = expected(row, column) +
                           static_cast<double>(bias.wide[static_cast<std::size_t>(column)]);
        // Half a unit in the last of 8 bits (fp16: 11), and the rounding of the sum itself.
        EXPECT_NEAR(c[static_cast<std::size_t>(row * kColumns + column)],
                    sum,
                    std::abs(sum) / (GetParam().type == DType::kFloat16 ? 2048 : 256) + 1e-4);
      }
    }
  }
}

// Gradients of weights: fp32, added to what is there.
TEST_P(NarrowProducts, AddToWideSums) {
  op_.transpose_a = true;
  op_.accumulate = true;
  std::vector<float> c(static_cast<std::size_t>(kRows * kColumns), 0.25F);
  multiply({a_.narrow.data(), b_.narrow.data()}, c.data(), DType::kFloat32);
  if (IsSkipped()) {
    return;
  }
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (std::int64_t column = 0; column < kColumns; ++column) {
      EXPECT_NEAR(
          c[static_cast<std::size_t>(row * kColumns + column)], expected(row, column) + 0.25, 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ByDeviceAndAlone,
                         NarrowProducts,
                         testing::Values(Way{false, DType::kBFloat16},
                                         Way{true, DType::kBFloat16},
                                         Way{false, DType::kFloat16},
                                         Way{true, DType::kFloat16}));

TEST(NarrowGemm, LeavesOtherTypesAlone) {
  Operation op;
  op.kind = OpKind::kGemm;
  float value = 2;
  const std::vector<void*> inputs = {&value, &value};
  const std::vector<void*> outputs = {&value};
  const std::vector<OperandType> types = {{DType::kFloat32, 1}, {DType::kFloat32, 1}};
  NarrowGemm product;
  EXPECT_FALSE(product.run({.operation = &op,
                            .inputs = inputs,
                            .outputs = outputs,
                            .input_types = types,
                            .output_types = std::span(types).first(1)}));
  EXPECT_EQ(value, 2);
}

}  // namespace
}  // namespace stagewright
