#pragma once

#include <string>
#include <vector>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "formats/measured_record.h"
#include "sim/memory/memory_constants.h"

namespace stagewright {

/// A fitted constant with the interval in which the loss grows by less than 2 % when the others are
/// held, and the datasets whose records move it.
struct FittedMemoryConstant {
  MemoryConstant constant{};
  double value = 0;
  double low = 0;
  double high = 0;
  std::vector<std::string> sources;
};

struct MemoryFit {
  MemoryConstants constants;
  std::vector<FittedMemoryConstant> fitted;
  int records = 0;
  double loss = 0;  ///< mean over datasets of the mean of median and mean |log(predicted/measured)|
};

/// Fits sim/memory's constants to the records' memory, all datasets weighing the same: coordinate
/// descent over each constant's range, with a pull towards its prior that a constant which no
/// record reaches follows entirely.  Deterministic.  Datasets in `without` are left out.  Without
/// any usable record the priors come back.
[[nodiscard]] MemoryFit fit_memory(const DataFiles& files,
                                   const std::vector<RecordLine>& records,
                                   const std::vector<std::string>& without);

}  // namespace stagewright
