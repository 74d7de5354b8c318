#include "runtime/compute/gemm.h"

#include <array>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gradient_check.h"

namespace stagewright::kernels {
namespace {

// A problem of random numbers, whose matrices lie in wider rows than they need.
struct Problem {
  Index m, n, k;
  Operand a_form, b_form;
  bool accumulate, with_bias;
  Floats a, b, c, bias;

  Problem(RandomInputs& random, std::array<Index, 3> extents, int variant)
      : m(extents[0]),
        n(extents[1]),
        k(extents[2]),
        a_form((variant & 1) != 0 ? Operand::kTransposed : Operand::kPlain),
        b_form((variant & 2) != 0 ? Operand::kTransposed : Operand::kPlain),
        accumulate((variant & 4) != 0),
        with_bias((variant & 8) != 0),
        a(random.normal((a_form == Operand::kPlain ? m : k) * a_stride())),
        b(random.normal((b_form == Operand::kPlain ? k : n) * b_stride())),
        c(random.normal(m * c_stride())),
        bias(random.normal(n)) {}

  [[nodiscard]] Index a_stride() const { return (a_form == Operand::kPlain ? k : m) + 3; }
  [[nodiscard]] Index b_stride() const { return (b_form == Operand::kPlain ? n : k) + 5; }
  [[nodiscard]] Index c_stride() const { return n + 1; }

  [[nodiscard]] Floats result(GemmLibrary library) const {
    Floats out = c;
    gemm({.m = m,
          .n = n,
          .k = k,
          .a = {a.data(), a_stride(), a_form},
          .b = {b.data(), b_stride(), b_form},
          .c = out.data(),
          .c_stride = c_stride(),
          .accumulate = accumulate,
          .bias = with_bias ? bias.data() : nullptr},
         library);
    return out;
  }

  // Elements between the rows keep their value.
  [[nodiscard]] Doubles expected() const {
    Doubles out = to_double(c);
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j < n; ++j) {
        double sum = accumulate ? out[at(i, j, c_stride())] : 0.0;
        sum += with_bias ? static_cast<double>(bias[at(0, j, 0)]) : 0.0;
        for (Index p = 0; p < k; ++p) {
          const auto x = a[a_form == Operand::kPlain ? at(i, p, a_stride()) : at(p, i, a_stride())];
          const auto y = b[b_form == Operand::kPlain ? at(p, j, b_stride()) : at(j, p, b_stride())];
          sum += static_cast<double>(x) * static_cast<double>(y);
        }
        out[at(i, j, c_stride())] = sum;
      }
    }
    return out;
  }

  static std::size_t at(Index row, Index column, Index stride) {
    return static_cast<std::size_t>(row * stride + column);
  }
};

class GemmTest : public testing::TestWithParam<GemmLibrary> {};

TEST_P(GemmTest, MatchesTheDoublePrecisionProductInEveryForm) {
  RandomInputs random(11);
  for (const auto& [m, n, k] : std::vector<std::array<Index, 3>>{
           {1, 1, 1}, {7, 65, 130}, {63, 1, 65}, {130, 63, 7}, {64, 96, 33}}) {
    for (int variant = 0; variant < 16; ++variant) {
      SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << ", variant " << variant);
      const Problem problem(random, {m, n, k}, variant);
      expect_near(problem.result(GetParam()), problem.expected(), 2e-6);
    }
  }
}

TEST_P(GemmTest, LeavesTheStartWhenThereIsNothingToMultiply) {
  RandomInputs random(12);
  for (int variant = 0; variant < 16; ++variant) {
    const Problem no_inner(random, {5, 3, 0}, variant);
    expect_near(no_inner.result(GetParam()), no_inner.expected(), 1e-7);
    const Problem no_columns(random, {5, 0, 4}, variant);
    expect_near(no_columns.result(GetParam()), no_columns.expected(), 0.0);
  }
}

TEST_P(GemmTest, GivesTheSameBitsFromSeveralThreadsAtOnce) {
  RandomInputs random(13);
  const Problem problem(random, {130, 65, 63}, 0);
  const Floats expected = problem.result(GetParam());
  std::vector<Floats> results(4);
  std::vector<std::thread> threads;
  threads.reserve(results.size());
  for (Floats& result : results) {
    threads.emplace_back([&] { result = problem.result(GetParam()); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(results, std::vector<Floats>(4, expected));
}

INSTANTIATE_TEST_SUITE_P(Library,
                         GemmTest,
                         testing::ValuesIn(kGemmLibraries),
                         [](const auto& test) { return std::string(name_of(test.param)); });

// y = x W^T + b, with x [rows, in], W [out, in], as a linear layer calls it.
struct Linear {
  Index rows, in, out;
  Floats weights_of_loss;

  [[nodiscard]] Floats forward(const Floats& x, const Floats& w, const Floats& b) const {
    Floats y(static_cast<std::size_t>(rows * out));
    gemm({.m = rows,
          .n = out,
          .k = in,
          .a = {x.data(), in},
          .b = {w.data(), in, Operand::kTransposed},
          .c = y.data(),
          .c_stride = out,
          .bias = b.data()});
    return y;
  }
  [[nodiscard]] double reference(const Doubles& x, const Doubles& w, const Doubles& b) const {
    double loss = 0.0;
    for (Index r = 0; r < rows; ++r) {
      for (Index o = 0; o < out; ++o) {
        double y = b[Problem::at(0, o, 0)];
        for (Index i = 0; i < in; ++i) {
          y += x[Problem::at(r, i, in)] * w[Problem::at(o, i, in)];
        }
        loss += y * static_cast<double>(weights_of_loss[Problem::at(r, o, out)]);
      }
    }
    return loss;
  }
};

TEST(GradientCheck, LinearLayer) {
  RandomInputs random(14);
  const Linear layer{.rows = 7, .in = 65, .out = 33, .weights_of_loss = random.normal(7 * 33)};
  const Floats x = random.normal(7 * 65);
  const Floats w = random.normal(33 * 65);
  const Floats b = random.normal(33);
  const float* dy = layer.weights_of_loss.data();
  Floats dx(x.size());
  gemm({.m = 7,
        .n = 65,
        .k = 33,
        .a = {dy, 33},
        .b = {w.data(), 65},
        .c = dx.data(),
        .c_stride = 65});
  Floats dw(w.size());
  gemm({.m = 33,
        .n = 65,
        .k = 7,
        .a = {dy, 33, Operand::kTransposed},
        .b = {x.data(), 65},
        .c = dw.data(),
        .c_stride = 65,
        .accumulate = true});
  const auto loss = [&](const Floats& y) { return dot(y, layer.weights_of_loss); };
  expect_gradient(
      x,
      dx,
      {[&](const Floats& v) { return loss(layer.forward(v, w, b)); },
       [&](const Doubles& v) { return layer.reference(v, to_double(w), to_double(b)); }},
      random);
  expect_gradient(
      w,
      dw,
      {[&](const Floats& v) { return loss(layer.forward(x, v, b)); },
       [&](const Doubles& v) { return layer.reference(to_double(x), v, to_double(b)); }},
      random);
}

}  // namespace
}  // namespace stagewright::kernels
