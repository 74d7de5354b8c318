#include "runtime/executor/conflict_tracker.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

using Places = std::vector<OperandPlace>;
using Waits = std::vector<std::int32_t>;

const OperandPlace kA{0, 0, 64};
const OperandPlace kB{1, 64, 64};
const OperandPlace kBoth{2, 0, 128};
constexpr LaneId kComm{1};
constexpr LaneId kOther{2};

ConflictTracker tracker() {
  return ConflictTracker(Places{kA, kB, kBoth}, 3);
}

TEST(ConflictTracker, ReaderWaitsForWriterOfAnotherLane) {
  ConflictTracker conflicts = tracker();
  EXPECT_EQ(conflicts.add(0, kComm, {}, Places{kA}), Waits{});
  EXPECT_EQ(conflicts.add(1, kComputeLane, Places{kA}, Places{kB}), Waits{0});
}

TEST(ConflictTracker, LaneDoesNotWaitForItself) {
  ConflictTracker conflicts = tracker();
  EXPECT_EQ(conflicts.add(0, kComm, {}, Places{kA}), Waits{});
  EXPECT_EQ(conflicts.add(1, kComm, Places{kA}, {}), Waits{});
}

TEST(ConflictTracker, ReadersDoNotWaitForReaders) {
  ConflictTracker conflicts = tracker();
  EXPECT_EQ(conflicts.add(0, kComm, Places{kA}, {}), Waits{});
  EXPECT_EQ(conflicts.add(1, kComputeLane, Places{kA}, {}), Waits{});
}

TEST(ConflictTracker, WriterWaitsForAllReadersSinceTheLastWrite) {
  ConflictTracker conflicts = tracker();
  EXPECT_EQ(conflicts.add(0, kComputeLane, {}, Places{kA}), Waits{});
  EXPECT_EQ(conflicts.add(1, kComm, Places{kA}, {}), Waits{0});
  EXPECT_EQ(conflicts.add(2, kOther, Places{kA}, {}), Waits{0});
  EXPECT_EQ(conflicts.add(3, kComputeLane, {}, Places{kA}), (Waits{1, 2}));
  EXPECT_EQ(conflicts.add(4, kComputeLane, {}, Places{kA}), Waits{});
}

TEST(ConflictTracker, OnlyTheLatestOfALaneIsNamed) {
  ConflictTracker conflicts = tracker();
  EXPECT_EQ(conflicts.add(0, kComm, {}, Places{kA}), Waits{});
  EXPECT_EQ(conflicts.add(1, kComm, {}, Places{kB}), Waits{});
  EXPECT_EQ(conflicts.add(2, kComputeLane, Places{kBoth}, {}), Waits{1});
}

// What one tensor leaves the arena gives to the next: the same bytes under another lifetime.
TEST(ConflictTracker, WindowsAndReusedMemoryConflictByBytes) {
  ConflictTracker conflicts = tracker();
  EXPECT_EQ(conflicts.add(0, kComm, Places{kB}, {}), Waits{});
  EXPECT_EQ(conflicts.add(1, kComputeLane, {}, Places{kA}), Waits{});
  EXPECT_EQ(conflicts.add(2, kComputeLane, {}, Places{kBoth}), Waits{0});
}

}  // namespace
}  // namespace stagewright
