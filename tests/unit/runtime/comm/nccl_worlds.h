#pragma once

#include <memory>

#include "runtime/comm/nccl_world.h"

namespace stagewright {

/// One world per rank, as its process would make it, all in this process: they meet over TCP and
/// communicate through the stand-ins.  `options.launch` is filled in here.
[[nodiscard]] Result<std::unique_ptr<World>> make_nccl_worlds(const WorldSpec& spec,
                                                              const NcclOptions& options);

}  // namespace stagewright
