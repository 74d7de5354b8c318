#include "sim/memory/memory_timeline.h"

#include <random>

#include <gtest/gtest.h>

#include "sim/memory/micro_batch_pattern.h"
#include "test_devices.h"
#include "tests/support/random_program.h"
#include "tests/support/toy_schedule.h"

namespace stagewright {
namespace {

constexpr auto kParameter = static_cast<std::size_t>(TensorClass::kParameter);
constexpr auto kGradient = static_cast<std::size_t>(TensorClass::kGradient);
constexpr auto kActivation = static_cast<std::size_t>(TensorClass::kActivation);
constexpr auto kCommunication = static_cast<std::size_t>(TensorClass::kCommunication);
constexpr auto kInput = static_cast<std::size_t>(TensorClass::kInput);

// The first of two ranks.  Persistent: w and dw of 8 * 8 * 4 = 256 B, x of 4 * 8 * 4 = 128 B.  y
// (128 B) comes with the forward and, being sent, stays to the end of the list (no further
// send); dy comes with the receive and goes with the backward, which also makes dx for a moment.
TEST(MemoryTimeline, FollowsTheActionsOfARank) {
  const Schedule schedule =
      toy_schedule({"0F0 0SEND_F0 0RECV_B0 0B0", "1RECV_F0 1F0 1B0 1SEND_B0"});
  LiveBytes persistent{};
  persistent[kParameter] = Bytes(256);
  persistent[kGradient] = Bytes(256);
  persistent[kInput] = Bytes(128);
  LiveBytes forward = persistent;
  forward[kCommunication] = Bytes(128);
  LiveBytes received = forward;
  received[kCommunication] = Bytes(256);
  LiveBytes backward = received;
  backward[kActivation] = Bytes(128);
  const MemoryTimeline expected{
      .by_action = {forward, forward, received, backward},
      .peaks = {backward, Bytes(256 + 256 + 128 + 256 + 128)},
  };
  EXPECT_EQ(memory_timeline(schedule.programs[0]), expected);
}

TEST(MemoryTimeline, PipelineKeepsAnActivationForEveryMicroBatchInFlight) {
  const Schedule schedule = toy_schedule(toy_1f1b(4, 8));
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const RankProgram& program = schedule.programs[rank];
    const MemoryTimeline timeline = memory_timeline(program);
    EXPECT_EQ(timeline, memory_timeline_of_lifetimes(program));
    EXPECT_EQ(timeline.peaks, memory_peaks(program, lifetimes(program)));
  }
}

TEST(MemoryTimeline, RankWithoutActionsHoldsItsPersistentTensors) {
  Schedule schedule = toy_schedule({"0F0 0B0"});
  RankProgram& program = schedule.programs[0];
  program.actions.clear();
  EXPECT_EQ(memory_timeline(program).peaks, memory_peaks(program, lifetimes(program)));
  EXPECT_TRUE(memory_timeline(program).by_action.empty());
}

TEST(MemoryTimeline, PatternsGiveWhatTheLifetimesGiveForAnyProgram) {
  constexpr unsigned kSeed = 7041;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(testing::Message() << "program " << round);
    const RankProgram program = random_program(random);
    const MemoryTimeline timeline = memory_timeline(program);
    ASSERT_EQ(timeline, memory_timeline_of_lifetimes(program));
    ASSERT_EQ(timeline.peaks, memory_peaks(program, lifetimes(program)));
  }
}

// Sent, then read by the backward of the same micro-batch: how long it stays depends on where the
// next send stands.
TEST(MemoryTimeline, TensorInUseAfterItsSendHasNoPattern) {
  Schedule schedule = toy_schedule({"0F0 0SEND_F0 0RECV_B0 0B0", "1RECV_F0 1F0 1B0 1SEND_B0"});
  RankProgram& program = schedule.programs[0];
  TouchTable plain(program);
  EXPECT_TRUE(micro_batch_pattern(program, plain, program.actions));
  program.stages[0].backward[1].inputs.push_back(*program.stages[0].output);
  TouchTable touches(program);
  EXPECT_FALSE(micro_batch_pattern(program, touches, program.actions));
  EXPECT_EQ(memory_timeline(program), memory_timeline_of_lifetimes(program));
}

TEST(MemoryTimeline, DriverAndLibrariesCountBesideTheTensors) {
  DeviceType device = test::round_device();
  MemoryPeaks peaks;
  peaks.total = device.memory - device.context;
  EXPECT_EQ(device_memory(peaks, device), device.memory);
  EXPECT_TRUE(fits(peaks, device));
  peaks.total += Bytes(1);
  EXPECT_FALSE(fits(peaks, device));
}

}  // namespace
}  // namespace stagewright
