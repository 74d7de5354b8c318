#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/schedule/schedule.h"
#include "runtime/executor/micro_batch_source.h"

namespace stagewright {

/// What a rank holds of each parameter, by name: row-major, without padding of a vocabulary.
using RankWeights = std::map<std::string, std::vector<float>>;

/// The weights of all ranks after some steps on learnable_tokens(), the same run as train() makes.
/// A failure ends the test program.
[[nodiscard]] std::vector<RankWeights> trained_weights(const Schedule& schedule,
                                                       std::int32_t steps);
/// The same on other data.
[[nodiscard]] std::vector<RankWeights> trained_weights(const Schedule& schedule,
                                                       std::int32_t steps,
                                                       const MicroBatchSource& source);

}  // namespace stagewright
