#include "formats/nccl_tests.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

using namespace std::chrono_literals;

constexpr const char* kLog =
    R"(# nThread 1 nGpus 8 minBytes 1048576 maxBytes 4194304 step: 2(factor)
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1048576        262144     float     sum      -1   101.90   10.29   18.01      0   100.10   10.47   18.33      0
           0             0     float     sum      -1     0.10    0.00    0.00      0     0.10    0.00    0.00      0
     4194304       1048576     float     sum      -1   101.50   41.33   72.33      0   101.00   41.53   72.67      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 45.3
)";

TEST(NcclTests, ReadsSizesAndTimesOutOfPlace) {
  const auto log = parse_nccl_tests(kLog, "a100.log");
  ASSERT_TRUE(log) << log.error().to_string();
  EXPECT_EQ(log->kind, OpKind::kAllReduce);
  EXPECT_EQ(log->points,
            (std::vector<CollectivePoint>{{Bytes(1048576), 101900ns}, {Bytes(4194304), 101500ns}}));
}

TEST(NcclTests, KnowsTheCollectiveThatTheLogNames) {
  const auto log =
      parse_nccl_tests(std::string("# Collective test starting: all_gather_perf\n") + kLog, "x");
  ASSERT_TRUE(log);
  EXPECT_EQ(log->kind, OpKind::kAllGather);
}

TEST(NcclTests, PassesOverTheTaskThatSrunPutsBeforeALine) {
  const auto log = parse_nccl_tests(
      "0: # Collective test starting: all_gather_perf\n"
      "0:         1024           256     float     sum      -1    165.0    0.01    0.01      0\n"
      "12:        2048           512     float     sum      -1    177.6    0.01    0.02      0\n",
      "x");
  ASSERT_TRUE(log) << log.error().to_string();
  EXPECT_EQ(log->kind, OpKind::kAllGather);
  EXPECT_EQ(log->points,
            (std::vector<CollectivePoint>{{Bytes(1024), 165000ns}, {Bytes(2048), 177600ns}}));
}

TEST(NcclTests, SaysWhatIsMissingOrImpossible) {
  EXPECT_NE(parse_nccl_tests("hello\n", "x.log").error().to_string().find("x.log: holds no line"),
            std::string::npos);
  const auto bad =
      parse_nccl_tests("1024 256 float sum -1 -5.0 10.29 18.01 0 100.10 10.47 18.33 0\n", "x.log");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().where, "x.log:1");
}

}  // namespace
}  // namespace stagewright
