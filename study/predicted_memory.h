#pragma once

#include <vector>

#include "core/base/data_files.h"
#include "core/training/training_setup.h"
#include "formats/measured_record.h"
#include "sim/memory/memory_constants.h"
#include "sim/memory/step_memory.h"

namespace stagewright {

/// The memory of a record's rank, as the record measured it.
struct MemoryPrediction {
  double bytes = 0;    ///< of the kind that the record states (allocated, reserved, driver, ...)
  bool fits = true;    ///< in the device, with context, libraries and what the allocator keeps
  StageMemory memory;  ///< the terms, of the rank that was measured
  friend bool operator==(const MemoryPrediction&, const MemoryPrediction&) = default;
};

/// Predicts the figure that the record's memory kind names; an unknown kind counts as reserved,
/// which is what training logs print most.  Fits is judged on the fullest rank.
[[nodiscard]] MemoryPrediction predict_memory(const MeasuredRecord& record,
                                              const TrainingSetup& setup,
                                              const MemoryConstants& constants);

}  // namespace stagewright
