#include "sim/engine/phase_pieces.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fake_cost.h"
#include "test_devices.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;
using test::FakeCost;

/// A phase of copies of 10 us and all-reduces of 100 us over the groups "tensor" (slot 0, stream 1)
/// and "data" (slot 1, stream 2).
class Phase {
 public:
  Phase() {
    cost_.compute = [](const Operation&) { return Duration(10us); };
    cost_.collective_time = 100us;
    place_.device = &device_;
    place_.groups.resize(2);
    place_.group_kinds = {"tensor", "data"};
    cuts.meets = {false, false};
  }

  TensorId tensor() {
    TensorSpec spec;
    spec.shape = {1};
    program.tensors.push_back(spec);
    return TensorId(program.tensors.size() - 1);
  }

  void compute(std::vector<TensorId> inputs, std::vector<TensorId> outputs) {
    Operation& op = ops.emplace_back();
    op.kind = OpKind::kCopy;
    op.inputs = std::move(inputs);
    op.outputs = std::move(outputs);
  }

  void all_reduce(TensorId tensor, std::size_t slot = 0) {
    Operation& op = ops.emplace_back();
    op.kind = OpKind::kAllReduce;
    op.variant = OpVariant::kSum;
    op.stream = StreamId(slot + 1);
    op.inputs = op.outputs = {tensor};
    op.group = GroupSlot(slot);
  }

  [[nodiscard]] std::vector<Piece> pieces() const {
    const ActionOperations selection{ops};
    return cut_into_pieces(program,
                           selection,
                           price_operations(program, selection, place_, cost_),
                           cuts,
                           place_)
        .pieces;
  }

  [[nodiscard]] std::vector<bool> marked() const {
    std::vector<bool> marks(program.tensors.size());
    for (const Piece& piece : pieces()) {
      mark_exposed_tensors(program, {ops}, piece, marks);
    }
    return marks;
  }

  RankProgram program;
  std::vector<Operation> ops;
  PieceCuts cuts;

 private:
  FakeCost cost_;
  DeviceType device_ = test::round_device();
  RankPlace place_;
};

/// Operations of each piece.
std::vector<std::vector<std::int32_t>> members(const std::vector<Piece>& pieces) {
  std::vector<std::vector<std::int32_t>> all;
  for (const Piece& piece : pieces) {
    std::vector<std::int32_t>& ops = all.emplace_back();
    for (const PricedOperation& op : piece.ops) {
      ops.push_back(op.op);
    }
  }
  return all;
}

using Members = std::vector<std::vector<std::int32_t>>;

// x made 0-10, reduced 10-110, used 110-120; beside it 10-20.
TEST(PhasePieces, CollectiveOfRanksInStepStaysInside) {
  Phase phase;
  const TensorId x = phase.tensor();
  phase.compute({}, {x});
  phase.all_reduce(x);
  phase.compute({}, {phase.tensor()});
  phase.compute({x}, {phase.tensor()});
  const std::vector<Piece> pieces = phase.pieces();
  ASSERT_EQ(members(pieces), (Members{{0, 1, 2, 3}}));
  EXPECT_EQ(pieces[0].duration, Duration(120us));
  EXPECT_EQ(pieces[0].compute_begin, Duration(0));
  EXPECT_EQ(pieces[0].waits, (std::vector<CollectiveWait>{{"tensor", 90us}}));
  EXPECT_EQ(pieces[0].streams, (std::vector<StreamUse>{{StreamId(1), {10us, 110us}, false}}));
  EXPECT_FALSE(pieces[0].meeting);
  EXPECT_EQ(phase.marked(), std::vector<bool>(3, false));
}

// The same where the members may be late: what does not need x joins the piece before.
TEST(PhasePieces, CollectiveOfOtherRanksStandsAlone) {
  Phase phase;
  phase.cuts.meets = {true, false};
  const TensorId x = phase.tensor();
  phase.compute({}, {x});
  phase.all_reduce(x);
  phase.compute({}, {phase.tensor()});
  phase.compute({x}, {phase.tensor()});
  const std::vector<Piece> pieces = phase.pieces();
  ASSERT_EQ(members(pieces), (Members{{0, 2}, {1}, {3}}));
  EXPECT_EQ(pieces[1].meeting, GroupSlot(0));
  EXPECT_FALSE(pieces[1].compute_begin);
  EXPECT_EQ(pieces[1].duration, Duration(100us));
  // x was written in the first half of the first piece, and everybody may wait for it.
  EXPECT_EQ(pieces[0].tensors[0], (TensorUse{x, std::nullopt, Stretch{0us, 10us}}));
  EXPECT_EQ(phase.marked(), (std::vector<bool>{true, false, false}));
}

TEST(PhasePieces, EveryCollectiveStandsAloneWhereTheActionIsThereForThem) {
  Phase phase;
  phase.cuts.every_collective = true;
  const TensorId x = phase.tensor();
  const TensorId y = phase.tensor();
  phase.all_reduce(x, 0);
  phase.all_reduce(y, 1);
  phase.compute({x}, {});
  phase.compute({y}, {});
  const std::vector<Piece> pieces = phase.pieces();
  EXPECT_EQ(members(pieces), (Members{{0}, {1}, {2}, {3}}));
  EXPECT_FALSE(pieces[0].meeting);
}

// What follows a collective on its stream waits for it, though it touches other tensors.
TEST(PhasePieces, OperationsBehindACollectiveOnItsStreamWaitForIt) {
  Phase phase;
  phase.cuts.meets = {true, false};
  phase.compute({}, {phase.tensor()});
  phase.all_reduce(phase.tensor(), 0);
  phase.compute({}, {phase.tensor()});
  phase.ops.back().stream = StreamId(1);
  EXPECT_EQ(members(phase.pieces()), (Members{{0}, {1}, {2}}));
}

TEST(PhasePieces, FirstReaderOfWhatArrivesBeginsAPiece) {
  Phase phase;
  const TensorId arriving = phase.tensor();
  phase.cuts.arriving = {arriving};
  phase.compute({}, {phase.tensor()});
  phase.compute({arriving}, {phase.tensor()});
  phase.compute({arriving}, {phase.tensor()});
  EXPECT_EQ(members(phase.pieces()), (Members{{0}, {1, 2}}));
}

// Nothing begins without the gradient, whoever reads it, and nothing is sent before all is done.
TEST(PhasePieces, AWholePassWaitsForItsMessageAndKeepsWhatItSends) {
  Phase phase;
  const TensorId arriving = phase.tensor();
  const TensorId leaving = phase.tensor();
  phase.cuts.arriving = {arriving};
  phase.cuts.whole = {.awaited = arriving, .sent = leaving};
  phase.compute({}, {phase.tensor()});
  phase.compute({arriving}, {leaving});
  phase.compute({arriving}, {});
  const std::vector<Piece> pieces = phase.pieces();
  ASSERT_EQ(members(pieces), (Members{{0}, {1, 2}}));
  const auto use = [&](const Piece& piece, TensorId tensor) {
    const auto found = std::ranges::find(piece.tensors, tensor, &TensorUse::tensor);
    return found == piece.tensors.end() ? TensorUse{} : *found;
  };
  EXPECT_EQ(use(pieces[0], arriving), (TensorUse{arriving, Stretch{}, std::nullopt}));
  EXPECT_EQ(use(pieces[1], leaving), (TensorUse{leaving, std::nullopt, Stretch{0us, 20us}}));
}

// A collective first and a collective last: computation takes 100-110, the last one 110-210.
TEST(PhasePieces, CommunicationAroundComputationIsExposed) {
  Phase phase;
  const TensorId x = phase.tensor();
  const TensorId y = phase.tensor();
  phase.all_reduce(x);
  phase.compute({x}, {y});
  phase.all_reduce(y);
  const std::vector<Piece> pieces = phase.pieces();
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].compute_begin, Duration(100us));
  EXPECT_EQ(pieces[0].duration, Duration(110us));
  EXPECT_EQ(pieces[0].leading, (CollectiveWait{"tensor", 100us}));
  EXPECT_EQ(pieces[0].streams, (std::vector<StreamUse>{{StreamId(1), {0us, 210us}, true}}));
  EXPECT_EQ(phase.marked(), (std::vector<bool>{true, true}));
}

TEST(PhasePieces, UnmarkedTensorsAreForgotten) {
  Phase phase;
  const TensorId x = phase.tensor();
  const TensorId y = phase.tensor();
  phase.compute({x}, {y});
  std::vector<Piece> pieces = phase.pieces();
  keep_marked(pieces[0], {false, true});
  EXPECT_EQ(pieces[0].tensors, (std::vector<TensorUse>{{y, std::nullopt, Stretch{0us, 10us}}}));
}

TEST(PhasePieces, NothingGivesNothing) {
  EXPECT_TRUE(Phase().pieces().empty());
}

}  // namespace
}  // namespace stagewright
