#include "study/predicted_memory.h"

namespace stagewright {

std::optional<MemoryPrediction> predict_memory(const DataFiles& /*files*/,
                                               const MeasuredRecord& /*record*/,
                                               const TrainingSetup& /*setup*/) {
  return std::nullopt;
}

}  // namespace stagewright
