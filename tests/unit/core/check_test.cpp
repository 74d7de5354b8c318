#include "core/base/check.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

TEST(CheckDeathTest, EndsTheProcessNamingPlaceConditionAndExpectation) {
  const int stages = 0;
  EXPECT_DEATH(SW_CHECK(stages > 0, "at least one stage"),
               "check_test.cpp:.*stages > 0 is false; expected at least one stage");
}

TEST(Check, LetsATrueConditionPassAndEvaluatesItOnce) {
  int evaluations = 0;
  SW_CHECK(++evaluations == 1, "one evaluation");
  EXPECT_EQ(evaluations, 1);
}

}  // namespace
}  // namespace stagewright
