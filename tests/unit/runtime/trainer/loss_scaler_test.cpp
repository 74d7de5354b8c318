#include "runtime/trainer/loss_scaler.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

TEST(LossScaler, HalvesAfterABadStepAndDoublesAfterManyGoodOnes) {
  LossScaler scaler({.scales = true, .initial = 8, .growth_after = 3});
  EXPECT_EQ(scaler.scale(), 8);
  EXPECT_TRUE(scaler.goes_on_after(true));
  EXPECT_TRUE(scaler.goes_on_after(true));
  EXPECT_TRUE(scaler.goes_on_after(false));
  EXPECT_EQ(scaler.scale(), 4);
  EXPECT_EQ(scaler.skipped(), 1);
  for (int step = 0; step < 2; ++step) {  // the two good ones before the bad one do not count
    EXPECT_TRUE(scaler.goes_on_after(true));
    EXPECT_EQ(scaler.scale(), 4);
  }
  EXPECT_TRUE(scaler.goes_on_after(true));
  EXPECT_EQ(scaler.scale(), 8);
}

TEST(LossScaler, GivesUpWhereNoSmallerScaleHelps) {
  LossScaler scaler({.scales = true, .initial = 4, .patience = 2});
  EXPECT_TRUE(scaler.goes_on_after(false));  // 2
  EXPECT_TRUE(scaler.goes_on_after(false));  // 1
  EXPECT_TRUE(scaler.goes_on_after(false));
  EXPECT_TRUE(scaler.goes_on_after(true));  // begins to count anew
  EXPECT_TRUE(scaler.goes_on_after(false));
  EXPECT_FALSE(scaler.goes_on_after(false));
  EXPECT_EQ(scaler.scale(), 1);
}

TEST(LossScaler, LeavesTheScaleAtOneWhereNothingIsScaled) {
  LossScaler scaler({.initial = 8, .growth_after = 1, .patience = 2});
  EXPECT_TRUE(scaler.goes_on_after(true));
  EXPECT_EQ(scaler.scale(), 1);
  EXPECT_TRUE(scaler.goes_on_after(false));
  EXPECT_FALSE(scaler.goes_on_after(false));
}

}  // namespace
}  // namespace stagewright
