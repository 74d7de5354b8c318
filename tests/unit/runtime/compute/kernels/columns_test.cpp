#include "runtime/compute/kernels/columns.h"

#include <gtest/gtest.h>

#include "gradient_check.h"

namespace stagewright::kernels {
namespace {

TEST(Columns, AreCopiedOut) {
  const Floats whole = {0, 1, 2, 3, 4, 5, 6, 7};
  Floats part(4);
  copy_columns({.whole = whole.data(), .part = part.data(), .begin = 1, .width = 2, .stride = 4},
               2);
  EXPECT_EQ(part, (Floats{1, 2, 5, 6}));
}

TEST(Columns, AreAddedTo) {
  Floats whole = {0, 1, 2, 3, 4, 5, 6, 7};
  const Floats part = {10, 20, 30, 40};
  add_columns({.part = part.data(), .whole = whole.data(), .begin = 2, .width = 2, .stride = 4}, 2);
  EXPECT_EQ(whole, (Floats{0, 1, 12, 23, 4, 5, 36, 47}));
}

}  // namespace
}  // namespace stagewright::kernels
