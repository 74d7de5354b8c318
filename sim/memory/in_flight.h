#pragma once

#include <cstdint>

#include "core/training/training_run.h"

namespace stagewright {

/// Micro-batches whose activations pipeline rank `rank` holds at once at most, in units of all of
/// its layers (with virtual stages, a fraction for each stage).  Closed forms, P ranks, M
/// micro-batches, V stages a rank, r the rank; each at most M:
///
///   1F1B                   P - r                             Narayanan et al. 2019
///   interleaved            (2 (P - r - 1) + (V - 1) P + 1) / V     Narayanan et al. 2021
///   GPipe, breadth first   M                                 Huang et al. 2019
///   eager 1F1B             2 (P - r) - 1
///   ZB-H1, ZB-V            P       (until the weight half)   Qi et al. 2024
///   ZB-H2                  2 P - 1
///   V-Half, V-Min          P / 2 + 1, P / 3 + 1              Qi et al. 2024
///   DualPipe, DualPipe-V   P + 1, P + 1 / 2                  DeepSeek-AI 2024
///
/// Vocabulary layers that are divided over all stages make a stage wait for its loss: 1 or 2 more
/// (passes with one or two barriers; Yeung et al. 2024), or half as many again where they run
/// synchronously (interlaced).  A name that is not in the list counts as 1F1B, or interleaved where
/// a rank has several stages.
[[nodiscard]] double in_flight(const TrainingRun& run, std::int32_t rank);

/// Micro-batches whose loss the last stage has computed and not yet differentiated at most: one, or
/// all where every forward comes before the first backward.
[[nodiscard]] double losses_in_flight(const TrainingRun& run);

}  // namespace stagewright
