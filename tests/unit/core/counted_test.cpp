#include "core/base/counted.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

TEST(Counted, SaysOneOrMany) {
  EXPECT_EQ(counted(1, "micro-batch"), "1 micro-batch");
  EXPECT_EQ(counted(0, "micro-batch"), "0 micro-batches");
  EXPECT_EQ(counted(2, "stage"), "2 stages");
  EXPECT_EQ(counted(3, "copy"), "3 copies");
  EXPECT_EQ(counted(1, "entry"), "1 entry");
  EXPECT_EQ(counted(4, "delay"), "4 delays");
}

}  // namespace
}  // namespace stagewright
