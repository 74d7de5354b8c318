#include "sim/cost/phase_price.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fake_cost.h"
#include "test_devices.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;
using test::FakeCost;

/// A program of element-wise operations on tensors of its own, each as long (in us) as its rows
/// say; collectives take 100 us.
class Phase {
 public:
  Phase() {
    cost.compute = [](const Operation& op) { return Duration(op.shape.rows * 1us); };
    cost.collective_time = 100us;
    place_.device = &device_;
    place_.groups.resize(2);
    place_.group_kinds = {"tensor", "data"};
  }

  TensorId tensor() {
    TensorSpec spec;
    spec.shape = {1};
    program.tensors.push_back(spec);
    return TensorId(program.tensors.size() - 1);
  }

  Operation& compute(std::int64_t rows,
                     std::vector<TensorId> inputs,
                     std::vector<TensorId> outputs,
                     std::int32_t layer = 0) {
    Operation& op = ops.emplace_back();
    op.kind = OpKind::kCopy;
    op.shape.rows = rows;
    op.inputs = std::move(inputs);
    op.outputs = std::move(outputs);
    op.layer = LayerId(layer);
    return op;
  }

  Operation& all_reduce(TensorId tensor, std::size_t slot = 0, std::int32_t layer = 0) {
    Operation& op = ops.emplace_back();
    op.kind = OpKind::kAllReduce;
    op.variant = OpVariant::kSum;
    op.stream = StreamId(slot + 1);
    op.inputs = op.outputs = {tensor};
    op.group = GroupSlot(slot);
    op.layer = LayerId(layer);
    return op;
  }

  [[nodiscard]] PhasePrice price(
      ActionOperations::Half half = ActionOperations::Half::kBoth) const {
    return price_phase(program, {ops, half}, place_, cost);
  }

  [[nodiscard]] std::string key(std::size_t begin, std::size_t end) const {
    return cost_key(std::span(ops).subspan(begin, end - begin));
  }

  RankProgram program;
  std::vector<Operation> ops;
  FakeCost cost;

 private:
  DeviceType device_ = test::round_device();
  RankPlace place_;
};

std::vector<Duration> starts_of(const PhasePrice& price) {
  std::vector<Duration> starts;
  for (const PricedOperation& op : price.ops) {
    starts.push_back(op.start);
  }
  return starts;
}

std::vector<Duration> durations_of(const PhasePrice& price) {
  std::vector<Duration> durations;
  for (const PricedOperation& op : price.ops) {
    durations.push_back(op.duration);
  }
  return durations;
}

TEST(PhasePrice, OperationsOfOneStreamFollowEachOther) {
  Phase phase;
  phase.compute(10, {}, {phase.tensor()});
  phase.compute(20, {}, {phase.tensor()});
  const PhasePrice price = phase.price();
  EXPECT_EQ(starts_of(price), (std::vector<Duration>{0us, 10us}));
  EXPECT_EQ(price.compute, Duration(30us));
  EXPECT_EQ(price.total, Duration(30us));
  EXPECT_TRUE(price.exposed.empty());
}

// x is made (0-10) and reduced (10-110); an operation that does not need x runs beside that
// (10-40), one that does waits from 40 to 110.
TEST(PhasePrice, ComputationThatDoesNotNeedACollectiveHidesIt) {
  Phase phase;
  const TensorId x = phase.tensor();
  phase.compute(10, {}, {x});
  phase.all_reduce(x);
  phase.compute(30, {}, {phase.tensor()});
  phase.compute(5, {x}, {phase.tensor()});
  const PhasePrice price = phase.price();
  EXPECT_EQ(starts_of(price), (std::vector<Duration>{0us, 10us, 10us, 110us}));
  EXPECT_EQ(price.compute, Duration(115us));
  EXPECT_EQ(price.exposed, (std::map<std::string, Duration>{{"tensor", 70us}}));
}

// What a collective reads must not be overwritten before it is done.
TEST(PhasePrice, OverwritingWaitsForTheLastUser) {
  Phase phase;
  const TensorId x = phase.tensor();
  const TensorId y = phase.tensor();
  phase.compute(10, {}, {x});
  Operation& gather = phase.all_reduce(x);
  gather.outputs = {y};
  phase.compute(5, {}, {x});
  EXPECT_EQ(starts_of(phase.price()), (std::vector<Duration>{0us, 10us, 110us}));
}

TEST(PhasePrice, CollectivesOfOneStreamFollowEachOtherAndOfTwoOverlap) {
  Phase phase;
  phase.all_reduce(phase.tensor(), 0);
  phase.all_reduce(phase.tensor(), 0);
  phase.all_reduce(phase.tensor(), 1);
  const PhasePrice price = phase.price();
  EXPECT_EQ(starts_of(price), (std::vector<Duration>{0us, 100us, 0us}));
  EXPECT_EQ(price.compute, Duration(0));
  EXPECT_EQ(price.total, Duration(200us));
}

// Two windows into one tensor count as one: the second waits for the collective on the first.
TEST(PhasePrice, WindowsIntoOneTensorCountAsOne) {
  Phase phase;
  const TensorId base = phase.tensor();
  const TensorId window = phase.tensor();
  phase.program.tensors[window.index()].view = TensorSpec::View{base, 0};
  phase.all_reduce(base);
  phase.compute(5, {window}, {phase.tensor()});
  EXPECT_EQ(starts_of(phase.price()), (std::vector<Duration>{0us, 100us}));
}

TEST(PhasePrice, HalvesOfABackwardTakeTheirOwnOperations) {
  Phase phase;
  phase.compute(10, {}, {phase.tensor()});
  phase.compute(20, {}, {phase.tensor()}).weight_gradient = true;
  phase.compute(40, {}, {phase.tensor()});
  const PhasePrice input = phase.price(ActionOperations::Half::kInput);
  EXPECT_EQ(input.compute, Duration(50us));
  EXPECT_EQ(input.ops[1].op, 2);
  EXPECT_EQ(phase.price(ActionOperations::Half::kWeight).compute, Duration(20us));
}

TEST(PhasePrice, EmptyPhaseTakesNoTime) {
  EXPECT_EQ(Phase().price(), PhasePrice());
}

/// Three layers of two operations, 10 us each.
void add_layers(Phase& phase) {
  for (std::int32_t layer = 0; layer < 3; ++layer) {
    // Rows tell the layers apart: 10, 11; 20, 21; ...
    phase.compute(10 * (layer + 1), {}, {phase.tensor()}, layer);
    phase.compute(10 * (layer + 1) + 1, {}, {phase.tensor()}, layer);
  }
  phase.cost.compute = [](const Operation&) { return Duration(10us); };
}

// The whole phase was measured with 90 us, half as long again as its six operations: each of them
// takes half as long again, and 30 us are glue if the operations were measured, too.
TEST(PhasePrice, MeasuredPhaseGoesBeforeItsLayersAndOperations) {
  Phase phase;
  add_layers(phase);
  phase.cost.segments[phase.key(0, 6)] = 90us;
  phase.cost.segments[phase.key(0, 2)] = 1us;
  phase.cost.source = PriceSource::kMeasured;
  const PhasePrice price = phase.price();
  EXPECT_EQ(durations_of(price), std::vector<Duration>(6, 15us));
  EXPECT_EQ(price.compute, Duration(90us));
  EXPECT_EQ(price.glue, Duration(30us));
}

// The middle layer took 26 us for 20: 13 us each; the others keep their own prices.
TEST(PhasePrice, MeasuredLayerGoesBeforeItsOperations) {
  Phase phase;
  add_layers(phase);
  phase.cost.segments[phase.key(2, 4)] = 26us;
  const PhasePrice price = phase.price();
  EXPECT_EQ(durations_of(price), (std::vector<Duration>{10us, 10us, 13us, 13us, 10us, 10us}));
  EXPECT_EQ(price.by_source,
            (std::map<PriceSource, Duration>{{PriceSource::kMeasured, 26us},
                                             {PriceSource::kAnalytical, 40us}}));
}

// Beside operations that were not measured the rest is no glue but the model's error.
TEST(PhasePrice, RestOfASegmentIsGlueOnlyBesideMeasuredOperations) {
  Phase phase;
  add_layers(phase);
  phase.cost.segments[phase.key(2, 4)] = 26us;
  EXPECT_EQ(phase.price().glue, Duration(0));
  phase.cost.source = PriceSource::kMeasured;
  EXPECT_EQ(phase.price().glue, Duration(6us));
}

TEST(PhasePrice, GlueIsNegativeWhereTheSegmentIsFaster) {
  Phase phase;
  add_layers(phase);
  phase.cost.source = PriceSource::kMeasured;
  phase.cost.segments[phase.key(0, 2)] = 15us;
  EXPECT_EQ(phase.price().glue, Duration(-5us));
}

// A layer with a collective in it: the runs before and behind it were measured on one rank.
TEST(PhasePrice, RunsBetweenCollectivesAreSegmentsToo) {
  Phase phase;
  const TensorId x = phase.tensor();
  phase.compute(10, {}, {x});
  phase.compute(20, {}, {x});
  phase.all_reduce(x);
  phase.compute(30, {x}, {x});
  phase.cost.segments[phase.key(0, 2)] = 60us;
  const PhasePrice price = phase.price();
  EXPECT_EQ(durations_of(price), (std::vector<Duration>{20us, 40us, 100us, 30us}));
  EXPECT_EQ(price.compute, Duration(190us));
}

// 7 ps over three equal operations: ends at 7/3, 14/3 and 7, rounded.
TEST(PhasePrice, StretchedOperationsAddUpToTheSegmentExactly) {
  Phase phase;
  for (int i = 0; i < 3; ++i) {
    phase.compute(i + 1, {}, {phase.tensor()});
  }
  phase.cost.compute = [](const Operation&) { return Duration(10us); };
  phase.cost.segments[phase.key(0, 3)] = Duration(7);
  EXPECT_EQ(durations_of(phase.price()),
            (std::vector<Duration>{Duration(2), Duration(3), Duration(2)}));
}

// A segment of a split half is the run of that half's operations, though others lie between them.
TEST(PhasePrice, SegmentOfAHalfIsMatchedWithoutTheOtherHalf) {
  Phase phase;
  phase.compute(10, {}, {phase.tensor()});
  phase.compute(20, {}, {phase.tensor()}).weight_gradient = true;
  phase.compute(30, {}, {phase.tensor()});
  const std::vector<Operation> half = {phase.ops[0], phase.ops[2]};
  phase.cost.segments[cost_key(half)] = 80us;
  const PhasePrice price = phase.price(ActionOperations::Half::kInput);
  EXPECT_EQ(durations_of(price), (std::vector<Duration>{20us, 60us}));
}

}  // namespace
}  // namespace stagewright
