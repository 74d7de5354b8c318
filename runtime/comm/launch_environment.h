#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace stagewright {

/// Which process of a run this is, and where the first one waits for the others.
struct LaunchEnvironment {
  int rank = 0;
  int ranks = 1;
  int local_rank = 0;  ///< on this host: which device
  std::string host;    ///< of rank 0
  std::uint16_t port = 0;
  std::string token;  ///< keeps out processes of other runs
};

/// The value of a variable, if it is set.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;

/// From torchrun's variables: RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT; LOCAL_RANK (0 if not
/// set) and TORCHELASTIC_RUN_ID (the token).  Where torchrun's own store listens on that port
/// (TORCHELASTIC_USE_AGENT_STORE=True) the next one is taken.  kInvalidInput, naming the variable.
[[nodiscard]] Result<LaunchEnvironment> read_launch_environment(const Variables& variables);

/// Those of this process.
[[nodiscard]] Variables process_environment();

}  // namespace stagewright
