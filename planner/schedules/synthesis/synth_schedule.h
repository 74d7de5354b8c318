#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "planner/schedules/generator.h"
#include "planner/schedules/synthesis/request.h"

namespace stagewright {

/// The schedule `synth`: synthesize() for costs and caps that stand in the parameters, so that a
/// plan says all that its order depends on.  Times are whole numbers in any one unit.
///   f, i, w    forward, input half and weight half of a stage (100 each)
///   b, r       whole backward (i + w), recomputation (none)
///   transfer   between ranks (0)
///   held       what a micro-batch of a stage holds from F to B, in any one unit (1)
///   checkpoint what of it until R (all); released what of it the input half frees (0)
///   pending    what the input half adds until W (0)
///   cap        what a rank holds at most, in that unit (P * V times `held`, as 1F1B does)
///   span       1: no flush at the end
///   effort, seed
/// "f.3" is for stage 3 alone (transfer: from that stage to the next), "cap.3" for rank 3.
[[nodiscard]] ScheduleGenerator synth_schedule();

/// The parameters that ask `synth` for a request.
[[nodiscard]] std::map<std::string, std::int64_t> synth_parameters(const SynthesisRequest& request);

}  // namespace stagewright
