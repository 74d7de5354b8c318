#pragma once

#include <string>
#include <vector>

#include "study/accuracy_report.h"
#include "study/calibrate.h"
#include "study/fit_kernels.h"
#include "study/fit_memory.h"

namespace stagewright {

/// What docs/accuracy.md is written from.
struct AccuracyDocument {
  AccuracyReport seen;    ///< with the constants in use
  AccuracyReport unseen;  ///< the rows of leave_one_out
  Calibration calibration;
  MemoryFit memory;
  std::vector<KernelFit> kernels;  ///< judged; may be empty
};

/// docs/accuracy.md: the goals and whether they are met; errors of time and memory per source, seen
/// and left out; competing plans; the worst rows; every calibrated constant with its data and its
/// interval; and what is not judged or assumed.
[[nodiscard]] std::string accuracy_markdown(const AccuracyDocument& document);

}  // namespace stagewright
