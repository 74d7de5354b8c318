#include "core/base/result.h"

#include <memory>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

TEST(Error, ReadsAsPlaceAndMessage) {
  EXPECT_EQ((Error{ErrorCode::kInvalidInput, "unknown unit", "a.json:/bandwidth"}.to_string()),
            "a.json:/bandwidth: unknown unit");
}

TEST(Error, WithoutAPlaceIsTheMessageAlone) {
  EXPECT_EQ((Error{ErrorCode::kInfeasible, "no plan fits", ""}.to_string()), "no plan fits");
}

TEST(Result, PassesAnErrorOnToAResultOfAnotherType) {
  const auto outer = []() -> Result<std::unique_ptr<int>> {
    Result<int> inner = fail(ErrorCode::kNotFound, "no such file", "plan.json");
    return pass_on(std::move(inner));
  };
  EXPECT_EQ(outer().error(), (Error{ErrorCode::kNotFound, "no such file", "plan.json"}));
}

}  // namespace
}  // namespace stagewright
