#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "study/plan_inputs.h"

namespace stagewright {

/// How small a proxy gets where the plan is larger.
struct ProxyLimits {
  std::int32_t ranks = 32;                       ///< threads, as far as pipeline ranks allow
  std::int64_t hidden = 128;                     ///< width of the model
  std::int32_t sequence = 128;                   ///< tokens
  std::optional<std::int64_t> vocabulary = 256;  ///< of bytes; absent: the model's own
};

/// A plan for this machine in the shape of a large one.
struct Proxy {
  PlanInputs inputs;
  std::vector<std::string> shrunk;  ///< "hidden 8192 -> 128", what differs from the plan
};

/// The same pipeline (ranks, virtual stages, schedule, relative sizes of stages), states (ZeRO,
/// buckets, precision, optimizer) and kinds of parallelism, with fewer and narrower layers, shorter
/// sequences, fewer micro-batches and at most two ranks of each kind beside the pipeline, on
/// CPUs.  So what orders of passes, delayed weights, precision and recomputation do to the training
/// can be seen before the large run; what width and depth do cannot.  Fails as lower() does where
/// no such plan can be lowered.
[[nodiscard]] Result<Proxy> make_proxy(const DataFiles& files,
                                       const PlanInputs& inputs,
                                       const ProxyLimits& limits = {});

/// The plan of one rank that trains on the same batches, whole backwards in order.
[[nodiscard]] Result<PlanInputs> one_rank_of(const DataFiles& files, const PlanInputs& inputs);

}  // namespace stagewright
