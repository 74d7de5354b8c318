#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/context.h"
#include "core/base/result.h"
#include "core/profile/profile.h"
#include "study/traced_layers.h"

namespace stagewright {

/// What `profile --from-pytorch` was asked; empty or 0: the trace decides.
struct PytorchTraceOptions {
  std::string trace;
  std::string model;
  std::string device_type;
  std::string blocks;
  std::string precision;
  std::int32_t micro_batch = 0;
  std::int32_t sequence = 0;
};

struct PytorchProfile {
  Profile profile;
  TracedModel traced;
  std::vector<std::string> layers;  ///< as the model calls them
  std::vector<std::string> notes;   ///< what should be known about the result
};

/// Reads the trace, finds the model's layers in it and makes a profile of their times.  Options
/// that contradict what the trace says are errors.
[[nodiscard]] Result<PytorchProfile> profile_from_pytorch(const Context& context,
                                                          const PytorchTraceOptions& options);

/// A table of the layers with their times; under --json the same and the profile.
void print_pytorch_profile(const Context& context,
                           const PytorchProfile& made,
                           const std::string& out);

}  // namespace stagewright
