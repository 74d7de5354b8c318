#include "core/schedule/lifetimes.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "core/schedule/semantics.h"
#include "core/schedule/touches.h"
#include "tests/support/random_program.h"
#include "tests/support/toy_schedule.h"

namespace stagewright {
namespace {

/// "name@micro-batch first-last" with points as action.op, in the order of the list.
std::vector<std::string> described(const RankProgram& program) {
  std::vector<std::string> lines;
  for (const Lifetime& life : lifetimes(program)) {
    std::string line = program.tensors[life.tensor.index()].name;
    if (life.micro_batch) {
      line += "@" + std::to_string(life.micro_batch->value());
    }
    const auto point = [](const ProgramPoint& p) {
      return std::to_string(p.action) + "." + std::to_string(p.op);
    };
    lines.push_back(line + " " + point(life.first) + "-" + point(life.last));
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Lifetimes, FollowActivationsFromReceiptAndProductionToLastUse) {
  const Schedule schedule = toy_schedule({"0F0 0SEND_F0 0RECV_B0 0B0",  //
                                          "1RECV_F0 1F0 1B0 1SEND_B0"});
  // Rank 0: y0 is sent and no further send waits for it, so it stays to the end.  dx is
  // written by the first half of the backward and nobody reads it.
  EXPECT_EQ(described(schedule.programs[0]),
            (Lines{"w0 0.0-3.1",
                   "dw0 0.0-3.1",
                   "y-1 0.0-3.1",
                   "y0@0 0.0-3.1",
                   "dy0@0 2.0-3.1",
                   "dx@0 3.0-3.0"}));
  // Rank 1: y0 lives from its receipt to the weight half of the backward.
  EXPECT_EQ(described(schedule.programs[1]),
            (Lines{"w1 0.0-3.0",
                   "dw1 0.0-3.0",
                   "dy1 0.0-3.0",
                   "y0@0 0.0-2.1",
                   "out@0 1.0-1.0",
                   "dy0@0 2.0-3.0"}));
}

TEST(Lifetimes, ASentTensorLivesUntilTheNextSendOfItsKindToThatPeer) {
  const Schedule schedule = toy_schedule(
      {"0F0 0SEND_F0 0F1 0SEND_F1 0F2 0SEND_F2", "1RECV_F0 1F0 1RECV_F1 1F1 1RECV_F2 1F2"});
  EXPECT_EQ(described(schedule.programs[0]),
            (Lines{"w0 0.0-5.0",
                   "dw0 0.0-5.0",
                   "y-1 0.0-5.0",
                   "y0@0 0.0-3.0",
                   "y0@1 2.0-5.0",
                   "y0@2 4.0-5.0"}));
}

TEST(Lifetimes, StagesOnOneRankHandATensorOver) {
  const Schedule schedule = toy_schedule({"0F0 1F0 1I0 0I0 1W0 0W0"});
  EXPECT_EQ(described(schedule.programs[0]),
            (Lines{"w0 0.0-5.1",
                   "dw0 0.0-5.1",
                   "y-1 0.0-5.1",
                   "w1 0.0-5.1",
                   "dw1 0.0-5.1",
                   "dy1 0.0-5.1",
                   "y0@0 0.0-4.1",     // until the weight half of stage 1
                   "out@0 1.0-1.0",    //
                   "dy0@0 2.0-5.1",    // until the weight half of stage 0
                   "dx@0 3.0-3.0"}));  //
}

TEST(Lifetimes, RecomputationStartsASecondLifetime) {
  Schedule schedule = toy_schedule({"0F0 0F1 0R0 0B0 0R1 0B1"});
  RankProgram& program = schedule.programs[0];
  // The forward writes the tensor for its own use, the recomputation for the backward.
  StageProgram& stage = program.stages[0];
  const TensorId again = stage.recompute[0].outputs[0];
  stage.forward[0].outputs = {again};
  stage.backward[1].inputs.push_back(again);
  const Lines lines = described(program);
  EXPECT_EQ((Lines(lines.begin() + 4, lines.end())),
            (Lines{"again0@0 0.0-0.0",
                   "again0@1 1.0-1.0",
                   "again0@0 2.0-3.1",
                   "dx@0 3.0-3.0",
                   "again0@1 4.0-5.1",
                   "dx@1 5.0-5.0"}));
}

TEST(Lifetimes, AnAccumulatingOrInPlaceWriteContinuesALifetime) {
  for (const bool in_place : {false, true}) {
    Schedule schedule = toy_schedule({"0F0 0R0"});
    RankProgram& program = schedule.programs[0];
    StageProgram& stage = program.stages[0];
    const TensorId again = stage.recompute[0].outputs[0];
    stage.forward[0].outputs = {again};
    if (in_place) {
      stage.recompute[0].inputs[0] = again;
    } else {
      stage.recompute[0].accumulate = true;
    }
    EXPECT_EQ(described(program).back(), "again0@0 0.0-1.0");
  }
}

TEST(Lifetimes, AnEmptyListKeepsItsParametersAlive) {
  Schedule schedule = toy_schedule({"0F0"});
  schedule.programs[0].actions.clear();
  EXPECT_EQ(described(schedule.programs[0]),
            (Lines{"w0 0.0-0.0", "dw0 0.0-0.0", "y-1 0.0-0.0", "dy0 0.0-0.0"}));
}

TEST(Lifetimes, BytesAreRoundedUpToTheAlignment) {
  Schedule schedule = toy_schedule({"0F0"}, {.rows = 3, .width = 5});  // 60 bytes
  EXPECT_EQ(lifetimes(schedule.programs[0]).back().bytes, 64_B);
}

/// The rules of the header, word by word, without any table.
class LiteralLifetimes {
 public:
  explicit LiteralLifetimes(const RankProgram& program)
      : program_(program), next_send_(next_send_on_channel(program.actions)) {
    if (!program.actions.empty()) {
      const auto ops = operations_of(program, program.actions.back()).ops.size();
      end_ = {static_cast<std::int32_t>(program.actions.size()) - 1,
              std::max(0, static_cast<std::int32_t>(ops) - 1)};
    }
  }

  std::vector<Lifetime> find() && {
    for (std::size_t i = 0; i < program_.tensors.size(); ++i) {
      const TensorSpec& tensor = program_.tensors[i];
      if (tensor.scope == TensorScope::kPersistent && !tensor.view) {
        found_.push_back({TensorId(i), std::nullopt, size(TensorId(i)), {}, end_});
      }
    }
    for (std::size_t i = 0; i < program_.actions.size(); ++i) {
      visit(i);
    }
    std::ranges::stable_sort(found_, {}, [](const Lifetime& life) {
      return std::tuple(life.micro_batch.has_value(), life.first, life.tensor);
    });
    return std::move(found_);
  }

 private:
  [[nodiscard]] Bytes size(TensorId tensor) const {
    return Bytes((program_.tensors[tensor.index()].bytes().count() + 63) / 64 * 64);
  }

  void touch(TensorId named, MicroBatchId m, ProgramPoint at, ProgramPoint last, bool fresh) {
    const TensorId tensor = memory_owner(program_, named);
    if (program_.tensors[tensor.index()].scope == TensorScope::kPersistent) {
      return;
    }
    if ((fresh && tensor == named) || !open_.contains({tensor, m})) {
      open_[{tensor, m}] = found_.size();
      found_.push_back({tensor, m, size(tensor), at, at});
    }
    Lifetime& life = found_[open_[{tensor, m}]];
    life.last = std::max(life.last, last);
  }

  void visit(std::size_t index) {
    const Action& action = program_.actions[index];
    ProgramPoint at{static_cast<std::int32_t>(index), 0};
    for (const TensorId tensor : moved_tensors(program_, action)) {
      const ProgramPoint until = next_send_[index] ? ProgramPoint{*next_send_[index], 0} : end_;
      const bool sends = is_send(action.kind);
      touch(tensor, action.micro_batch, at, sends ? until : at, !sends);
    }
    const ActionOperations run = operations_of(program_, action);
    for (const Operation& op : run.ops) {
      if (run.includes(op)) {
        visit(op, action.micro_batch, at);
      }
      ++at.op;
    }
  }

  void visit(const Operation& op, MicroBatchId m, ProgramPoint at) {
    for (const TensorId tensor : op.inputs) {
      touch(tensor, m, at, at, false);
    }
    for (const TensorId tensor : op.outputs) {
      const bool in_place = std::ranges::find(op.inputs, tensor) != op.inputs.end();
      touch(tensor, m, at, at, !in_place && !reads_outputs(op));
    }
  }

  const RankProgram& program_;
  std::vector<std::optional<std::int32_t>> next_send_;
  ProgramPoint end_;
  std::map<std::pair<TensorId, MicroBatchId>, std::size_t> open_;
  std::vector<Lifetime> found_;
};

TEST(Lifetimes, OfRandomProgramsFollowTheRules) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const RankProgram program = random_program(random);
    EXPECT_EQ(lifetimes(program), LiteralLifetimes(program).find()) << "seed " << seed;
  }
}

TEST(MemoryPeaks, OfAHandMadeListCountWhatLivesTogether) {
  // One stage of 4 x 8 floats (128 bytes) and 8 x 8 matrices (256 bytes): x and dy wait in
  // kInput tensors; each forward leaves an output that dies at once, each backward a dx.
  const Schedule schedule = toy_schedule({"0F0 0F1 0B0 0B1"});
  const RankProgram& program = schedule.programs[0];
  MemoryPeaks expected;
  expected.by_class[static_cast<std::size_t>(TensorClass::kParameter)] = 256_B;
  expected.by_class[static_cast<std::size_t>(TensorClass::kGradient)] = 256_B;
  expected.by_class[static_cast<std::size_t>(TensorClass::kInput)] = 256_B;
  expected.by_class[static_cast<std::size_t>(TensorClass::kActivation)] = 128_B;
  expected.total = 896_B;
  EXPECT_EQ(memory_peaks(program, lifetimes(program)), expected);
}

/// Adds up what lives at each point where something begins: live bytes are largest there.
MemoryPeaks literal_peaks(const RankProgram& program, const std::vector<Lifetime>& all) {
  MemoryPeaks peaks;
  for (const Lifetime& at : all) {
    std::array<Bytes, kTensorClassCount> live{};
    for (const Lifetime& life : all) {
      if (life.first <= at.first && at.first <= life.last) {
        live.at(static_cast<std::size_t>(program.tensors[life.tensor.index()].tensor_class)) +=
            life.bytes;
      }
    }
    for (std::size_t c = 0; c < live.size(); ++c) {
      peaks.by_class.at(c) = std::max(peaks.by_class.at(c), live.at(c));
    }
    peaks.total = std::max(peaks.total, std::accumulate(live.begin(), live.end(), Bytes()));
  }
  return peaks;
}

TEST(MemoryPeaks, OfRandomProgramsEqualTheLargestSumOverAllPoints) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const RankProgram program = random_program(random);
    const std::vector<Lifetime> all = lifetimes(program);
    EXPECT_EQ(memory_peaks(program, all), literal_peaks(program, all)) << "seed " << seed;
  }
}

TEST(ArenaPlan, NeverPutsTwoLiveTensorsInOnePlace) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const RankProgram program = random_program(random);
    const std::vector<Lifetime> all = lifetimes(program);
    const ArenaPlan plan = plan_arena(all);
    ASSERT_EQ(plan.offsets.size(), all.size());
    EXPECT_GE(plan.capacity, memory_peaks(program, all).total);
    EXPECT_EQ(plan, plan_arena(all));
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(plan.offsets[i] % kArenaAlignment, 0);
      const std::int64_t end = plan.offsets[i] + all[i].bytes.count();
      EXPECT_LE(end, plan.capacity.count());
      for (std::size_t j = 0; j < i; ++j) {
        const bool in_time = all[i].first <= all[j].last && all[j].first <= all[i].last;
        const bool in_space =
            plan.offsets[i] < plan.offsets[j] + all[j].bytes.count() && plan.offsets[j] < end;
        EXPECT_FALSE(in_time && in_space) << "seed " << seed << ": " << i << " and " << j;
      }
    }
  }
}

TEST(ArenaPlan, ReusesTheLowestGapThatFits) {
  const auto life = [](std::int32_t first, std::int32_t last, std::int64_t bytes) {
    return Lifetime{TensorId(0), MicroBatchId(0), Bytes(bytes), {first, 0}, {last, 0}};
  };
  const Lifetime parameter{TensorId(1), std::nullopt, 64_B, {0, 0}, {9, 0}};
  // At point 3 the gaps are [64, 128) and [256, 320): 128 bytes fit into neither and extend the
  // block over its free end; 64 bytes take the first gap.
  const ArenaPlan plan = plan_arena({life(0, 1, 64),
                                     life(0, 9, 128),
                                     life(0, 2, 64),
                                     parameter,
                                     life(3, 9, 128),
                                     life(3, 9, 64)});
  EXPECT_EQ(plan.offsets, (std::vector<std::int64_t>{64, 128, 256, 0, 256, 64}));
  EXPECT_EQ(plan.capacity, 384_B);
}

TEST(ArenaPlan, OfOneRoundTripIsAsTightAsThePeak) {
  const Schedule schedule = toy_schedule(toy_1f1b(4, 12));
  for (const RankProgram& program : schedule.programs) {
    const std::vector<Lifetime> all = lifetimes(program);
    EXPECT_EQ(plan_arena(all).capacity, memory_peaks(program, all).total);
  }
}

}  // namespace
}  // namespace stagewright
