#include "formats/measured_kernels.h"

#include <string>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

std::string series(const std::string& points) {
  return R"({"dataset":"d","source":"s","device":"v100","operation":"gemm","dtype":"fp16",)"
         R"("columns":["rows","inner","cols","tflops"],"points":)" +
         points + "}\n";
}

TEST(MeasuredKernels, ReadsSizesAndTurnsRatesIntoTimes) {
  const auto kernels = parse_measured_kernels(series("[[1000,500,2000,100.0]]"), "k.jsonl");
  ASSERT_TRUE(kernels) << kernels.error().to_string();
  ASSERT_EQ(kernels->size(), 1U);
  const MeasuredKernel& kernel = kernels->front();
  EXPECT_EQ(kernel.op.shape, (OpShape{.rows = 1000, .cols = 2000, .inner = 500}));
  EXPECT_DOUBLE_EQ(kernel.seconds, 2e9 / 100e12);
}

TEST(MeasuredKernels, NamesTheLineOfAnImpossiblePoint) {
  for (const char* points :
       {"[[0,5,5,1.0]]", "[[5,5,5,-1.0]]", "[[5,5]]", "[[5,5,5,\"x\"]]", "3"}) {
    const auto bad = parse_measured_kernels("\n" + series(points), "k.jsonl");
    ASSERT_FALSE(bad) << points;
    EXPECT_NE(bad.error().to_string().find("k.jsonl:2"), std::string::npos)
        << bad.error().to_string();
  }
}

}  // namespace
}  // namespace stagewright
