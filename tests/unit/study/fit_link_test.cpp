#include "study/fit_link.h"

#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "sim/cost/analytical_links.h"

namespace stagewright {
namespace {

// nccl-tests all_reduce_perf on 8 A100 (stas00/ml-engineering, network/README.md): size, us.
TEST(FitLink, MeetsAMeasuredSweepOfANode) {
  CollectiveLog log;
  for (const auto& [size, micros] : {std::pair{32768, 43.83},
                                     std::pair{262144, 61.38},
                                     std::pair{1048576, 101.9},
                                     std::pair{4194304, 101.5},
                                     std::pair{16777216, 276.6},
                                     std::pair{33554432, 424.0},
                                     std::pair{67108864, 684.6},
                                     std::pair{134217728, 1327.6},
                                     std::pair{536870912, 4218.4},
                                     std::pair{1073741824, 8203.9}}) {
    log.points.push_back({Bytes(size), from_seconds(micros * 1e-6)});
  }
  const LinkFit fit = fit_link(log, {.name = "nvlink3", .bandwidth = 300_GBps}, 1, 8);
  EXPECT_LT(fit.median_error, 0.12);
  EXPECT_NEAR(fit.link.efficiency, 0.78, 0.06);
  EXPECT_GT(fit.link.ramp, Bytes(8'000'000));
}

TEST(FitLink, FindsTheLinkThatMadeTheTimes) {
  const LinkSpec truth{
      .name = "ib", .bandwidth = 25_GBps, .latency = from_seconds(8e-6), .efficiency = 0.7};
  GroupGeometry group;
  group.members = 32;
  group.nodes = 4;
  group.members_per_node = 8;
  group.intra_node = {.name = "inside", .bandwidth = BytesPerSecond(1e15)};
  group.inter_node = truth;
  CollectiveLog log{.kind = OpKind::kAllGather};
  for (std::int64_t size = 1 << 16; size <= 1 << 30; size *= 4) {
    log.points.push_back({Bytes(size), collective_time(log.kind, Bytes(size), group)});
  }
  const LinkFit fit = fit_link(log, {.name = "ib", .bandwidth = 25_GBps}, 4, 8);
  EXPECT_LT(fit.median_error, 0.01);
  EXPECT_NEAR(fit.link.efficiency, 0.7, 0.01);
  EXPECT_NEAR(to_seconds(fit.link.latency), 8e-6, 2e-7);
}

}  // namespace
}  // namespace stagewright
