#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "core/schedule/tensor.h"

namespace stagewright {

/// When an instruction was issued, could start, started and was done, since the start of the run.
struct InstructionTimes {
  TimePoint posted;
  TimePoint ready;
  TimePoint start;
  TimePoint end;
  Duration thread_time{};  ///< what it took of a core
};

/// What one rank measured in one step.  The vectors keep their memory from step to step.
struct StepRecord {
  struct MemoryChange {
    TimePoint at;
    std::array<Bytes, kTensorClassCount> live{};
  };
  std::int32_t step = 0;
  TimePoint begin;
  TimePoint end;
  std::vector<InstructionTimes> times;  ///< by instruction
  std::vector<MemoryChange> memory;
};

}  // namespace stagewright
