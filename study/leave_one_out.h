#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "formats/measured_record.h"
#include "study/accuracy_report.h"

namespace stagewright {

/// Predicts the time and the memory of every source with constants that were calibrated without it;
/// a class or architecture that only it had gets the default.  The rows come source by source, each
/// with the deviations of `band`; records without a source are left out.  Uses the machine's cores;
/// the result does not depend on how many.
[[nodiscard]] Result<std::vector<AccuracyRow>> leave_one_out(const DataFiles& files,
                                                             const std::vector<RecordLine>& records,
                                                             const StepBand& band);

/// Fits the coefficients of StepBand so that the 80 % band covers 80 % of these rows, and of each
/// source as nearly as it can.
[[nodiscard]] StepBand fit_band(const std::vector<AccuracyRow>& rows);

/// Gives the rows the deviations of another band.
void set_deviations(std::vector<AccuracyRow>& rows, const StepBand& band);

}  // namespace stagewright
