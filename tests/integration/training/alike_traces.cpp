#include "tests/integration/training/alike_traces.h"

#include <cstddef>

#include <gtest/gtest.h>

namespace stagewright {

void expect_alike(const Trace& actual, const Trace& expected, double tolerance) {
  ASSERT_EQ(actual.losses.size(), expected.losses.size());
  ASSERT_EQ(actual.gradient_norms.size(), expected.gradient_norms.size());
  for (std::size_t step = 0; step < expected.losses.size(); ++step) {
    EXPECT_NEAR(actual.losses[step], expected.losses[step], tolerance * expected.losses[step])
        << "step " << step;
    EXPECT_NEAR(actual.gradient_norms[step],
                expected.gradient_norms[step],
                tolerance * expected.gradient_norms[step])
        << "step " << step;
  }
}

}  // namespace stagewright
