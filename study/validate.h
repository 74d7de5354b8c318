#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "formats/measured_record.h"
#include "sim/cost/step_constants.h"
#include "sim/memory/memory_constants.h"
#include "study/accuracy_report.h"

namespace stagewright {

/// Predicts every record's time (the static pass over the lowered run, as `plan` and `simulate`
/// print it; the closed form of sim/step, which AccuracyRow::price then says, where a run cannot be
/// lowered) and memory (study/predicted_memory) with these
/// constants and holds them against what was measured.  Records that cannot be predicted are rows
/// with a reason, and so are those whose time says nothing.
[[nodiscard]] Result<AccuracyReport> validate(const DataFiles& files,
                                              const std::vector<RecordLine>& records,
                                              const StepConstants& constants,
                                              const MemoryConstants& memory_constants);

/// Why a record's iteration time should not be trusted: its notes or the list
/// profiles/measured/doubtful.json say so.
struct TimeDoubt {
  std::string reason;   ///< empty: no doubt
  bool judged = false;  ///< counts in the errors all the same, but no constant is fitted to it
};
[[nodiscard]] Result<TimeDoubt> doubt_about_time(const DataFiles& files,
                                                 const MeasuredRecord& record);

}  // namespace stagewright
