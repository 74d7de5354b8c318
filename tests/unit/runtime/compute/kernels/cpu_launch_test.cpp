#include "runtime/compute/kernels/cpu_launch.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "gradient_check.h"
#include "runtime/compute/kernels/float_math.h"
#include "runtime/compute/kernels/layer_norm.h"

namespace stagewright::kernels {
namespace {

// The sets that this machine can run.
std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets = {InstructionSet::kBaseline};
  if (best_instruction_set() != InstructionSet::kBaseline) {
    sets.push_back(InstructionSet::kAvx2);
  }
  if (best_instruction_set() == InstructionSet::kAvx512) {
    sets.push_back(InstructionSet::kAvx512);
  }
  return sets;
}

struct Exponential {
  const float* x;
  float* y;
  SW_HOST_DEVICE void operator()(Index i) const { y[i] = fast_exp(x[i]); }
};

TEST(CpuLaunch, ComputesExponentialsToOneUnitInTheLastPlaceOnEveryInstructionSet) {
  Floats x;
  for (int i = -6340; i < 6410; ++i) {
    x.push_back(0.0137F * static_cast<float>(i));
  }
  for (const InstructionSet set : instruction_sets()) {
    Floats y(x.size());
    launch_elements(static_cast<Index>(x.size()), Exponential{x.data(), y.data()}, set);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = std::exp(static_cast<double>(x[i]));
      ASSERT_NEAR(static_cast<double>(y[i]) / expected, 1.0, 1.8e-7) << "x = " << x[i];
    }
  }
}

TEST(CpuLaunch, SaturatesExponentialsAndKeepsNan) {
  const Floats x = {-INFINITY, -200.0F, 0.0F, 200.0F, INFINITY, NAN};
  for (const InstructionSet set : instruction_sets()) {
    Floats y(x.size());
    launch_elements(static_cast<Index>(x.size()), Exponential{x.data(), y.data()}, set);
    EXPECT_LT(y[0], 2e-38F);
    EXPECT_EQ(y[1], y[0]);
    EXPECT_EQ(y[2], 1.0F);
    EXPECT_GT(y[3], 1e38F);
    EXPECT_EQ(y[4], y[3]);
    EXPECT_TRUE(std::isnan(y[5]));
  }
}

TEST(CpuLaunch, GivesTheSameRowsOnEveryInstructionSetWithinRounding) {
  RandomInputs random(41);
  const Index rows = 5;
  const Index width = 65;
  const Floats x = random.normal(rows * width);
  const Floats gamma = random.normal(width);
  const Floats beta = random.normal(width);
  const auto normalized = [&](InstructionSet set) {
    Floats y(x.size());
    Floats mean(rows);
    Floats rstd(rows);
    launch_rows(rows,
                LayerNormForward<float>{.x = x.data(),
                                        .gamma = gamma.data(),
                                        .beta = beta.data(),
                                        .y = y.data(),
                                        .mean = mean.data(),
                                        .rstd = rstd.data(),
                                        .width = width},
                set);
    return y;
  };
  const Doubles expected = to_double(normalized(InstructionSet::kBaseline));
  for (const InstructionSet set : instruction_sets()) {
    expect_near(normalized(set), expected, 5e-7);
  }
}

}  // namespace
}  // namespace stagewright::kernels
