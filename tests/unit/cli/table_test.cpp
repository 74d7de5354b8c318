#include "cli/table.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

TEST(Table, AlignsNumbersRightAndTextLeft) {
  Table table({"name", "time"});
  table.add({"gemm", "12.5 ms"});
  table.add({"all-reduce", "3 us"});
  EXPECT_EQ(table.to_string(),
            "name           time\n"
            "-------------------\n"
            "gemm        12.5 ms\n"
            "all-reduce     3 us\n");
}

TEST(Table, ANameThatBeginsWithADigitIsText) {
  Table table({"schedule", "peak"});
  table.add({"1f1b", "4"});
  table.add({"looped-bfs", "121k"});
  EXPECT_EQ(table.to_string(),
            "schedule    peak\n"
            "----------------\n"
            "1f1b           4\n"
            "looped-bfs  121k\n");
}

TEST(Table, TextOfSharesAndCounts) {
  EXPECT_EQ(percent(0.1234), "12.3 %");
  EXPECT_EQ(signed_percent(-0.05), "-5.0 %");
  EXPECT_EQ(count_text(1'234'567), "1.23M");
  EXPECT_EQ(count_text(12), "12");
}

}  // namespace
}  // namespace stagewright
