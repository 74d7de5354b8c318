#pragma once

#include <optional>

#include "core/base/data_files.h"
#include "core/training/training_setup.h"
#include "formats/measured_record.h"

namespace stagewright {

/// The memory of a record's rank, as the record measured it.
struct MemoryPrediction {
  double bytes = 0;  ///< of the kind that the record states (allocated, reserved, driver, ...)
  bool fits = true;  ///< in the device, with context, libraries and what the allocator keeps
  friend bool operator==(const MemoryPrediction&, const MemoryPrediction&) = default;
};

/// Where the memory model plugs into the report.  Nothing: this record's memory is not predicted.
[[nodiscard]] std::optional<MemoryPrediction> predict_memory(const DataFiles& files,
                                                             const MeasuredRecord& record,
                                                             const TrainingSetup& setup);

}  // namespace stagewright
