#include <utility>

#include <gtest/gtest.h>

#include "sim/cost/cost_model.h"
#include "test_devices.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;
using test::round_device;

Operation add(std::int64_t rows) {
  Operation op;
  op.kind = OpKind::kAdd;
  op.shape.rows = rows;
  return op;
}

Operation all_reduce(std::int64_t elements) {
  Operation op;
  op.kind = OpKind::kAllReduce;
  op.variant = OpVariant::kSum;
  op.shape.cols = elements;
  return op;
}

MeasuredTime took(Duration time) {
  return {.median = time, .spread = 1us, .samples = 9};
}

GroupGeometry in_a_node(std::int32_t members) {
  GroupGeometry geometry;
  geometry.members = members;
  geometry.members_per_node = members;
  geometry.intra_node = round_device().intra_node;
  geometry.inter_node = round_device().inter_node;
  return geometry;
}

Profile profile() {
  Profile profile;
  profile.device = "round";
  profile.operations = {{cost_key(add(10)), took(77us)}};
  profile.segments = {{.key = cost_key(std::vector{add(10), add(10)}),
                       .name = "two",
                       .operations = 2,
                       .time = took(200us)}};
  profile.links = {{"all-reduce", 2, Bytes(1000), took(10us)},
                   {"all-reduce", 2, Bytes(3000), took(30us)},
                   {"send", 2, Bytes(1000), took(5us)}};
  return profile;
}

std::unique_ptr<CostModel> measured() {
  return make_profiled_cost(profile(), make_analytical_cost());
}

TEST(MeasuredCost, MeasurementGoesBeforeTheModel) {
  EXPECT_EQ(measured()->operation(add(10), round_device()), (Price{77us, PriceSource::kMeasured}));
}

TEST(MeasuredCost, ModelPricesWhatWasNotMeasured) {
  const Price price = make_analytical_cost()->operation(add(20), round_device());
  EXPECT_EQ(price.source, PriceSource::kAnalytical);
  EXPECT_EQ(measured()->operation(add(20), round_device()), price);
}

TEST(MeasuredCost, ProfileOfAnotherDeviceSaysNothing) {
  DeviceType other = round_device();
  other.name = "other";
  EXPECT_EQ(measured()->operation(add(10), other).source, PriceSource::kAnalytical);
  EXPECT_EQ(measured()->segment(std::vector{add(10), add(10)}, other), std::nullopt);
}

TEST(MeasuredCost, SegmentMustMatchWhole) {
  EXPECT_EQ(measured()->segment(std::vector{add(10), add(10)}, round_device()),
            (Price{200us, PriceSource::kMeasured}));
  EXPECT_EQ(measured()->segment(std::vector{add(10)}, round_device()), std::nullopt);
}

// 500 floats are 2000 B, half way between 10 us and 30 us.
TEST(MeasuredCost, LinksAreInterpolatedInSize) {
  EXPECT_EQ(measured()->collective(all_reduce(500), in_a_node(2)),
            (Price{20us, PriceSource::kMeasured}));
}

TEST(MeasuredCost, LinksBeyondTheMeasuredSizesAreFlagged) {
  EXPECT_EQ(measured()->collective(all_reduce(1000), in_a_node(2)),
            (Price{40us, PriceSource::kExtrapolated}));
}

TEST(MeasuredCost, OtherNumberOfRanksFallsBackToTheModel) {
  EXPECT_EQ(measured()->collective(all_reduce(500), in_a_node(4)).source, PriceSource::kAnalytical);
}

TEST(MeasuredCost, MeasurementsInANodeSayNothingAboutOthers) {
  GroupGeometry apart = in_a_node(2);
  apart.nodes = 2;
  apart.members_per_node = 1;
  EXPECT_EQ(measured()->transfer(Bytes(1000), apart).source, PriceSource::kAnalytical);
  EXPECT_EQ(measured()->transfer(Bytes(1000), in_a_node(2)), (Price{5us, PriceSource::kMeasured}));
}

}  // namespace
}  // namespace stagewright
