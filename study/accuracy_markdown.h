#pragma once

#include <string>

#include "study/accuracy_report.h"
#include "study/calibrate.h"

namespace stagewright {

/// docs/accuracy.md: errors per source with the constants in use and with constants that have not
/// seen the source, competing plans, the worst rows, and every calibrated constant with its source
/// and interval.  `unseen` holds the rows of leave_one_out.
[[nodiscard]] std::string accuracy_markdown(const AccuracyReport& seen,
                                            const AccuracyReport& unseen,
                                            const Calibration& calibration);

}  // namespace stagewright
