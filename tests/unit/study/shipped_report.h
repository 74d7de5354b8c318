#pragma once

#include <string>
#include <vector>

#include "formats/measured_record.h"
#include "study/accuracy_report.h"

namespace stagewright {

/// All published runs that the tests have.
[[nodiscard]] std::vector<RecordLine> published();

/// The report with the constants that the program ships.
[[nodiscard]] AccuracyReport shipped(const std::vector<RecordLine>& records);

/// Errors of the times of a source's dense models.
[[nodiscard]] std::vector<double> errors(const AccuracyReport& report, const std::string& source);

}  // namespace stagewright
