// The NCCL communicator over the stand-ins: each rank with a connection of its own, as if in a
// process of its own.

#include "communicator_conformance.h"
#include "nccl_worlds.h"
#include "standin_library.h"

namespace stagewright {
namespace {

/// The buffers of the suite are the host's: the stand-in is a device that reads pageable memory.
[[nodiscard]] ConformanceBackend nccl(std::string name, int longest_delay_us) {
  return {std::move(name), [longest_delay_us](const WorldSpec& spec, Duration timeout) {
            configure_standins({.longest_delay_us = longest_delay_us, .pageable_memory = true});
            return make_nccl_worlds(spec, {.timeout = timeout});
          }};
}

// At once, and with random delays before a quarter of all that a stream does.
INSTANTIATE_TEST_SUITE_P(Nccl,
                         CommunicatorConformance,
                         testing::Values(nccl("Prompt", 0), nccl("Delayed", 200)),
                         [](const auto& backend) { return backend.param.name; });

}  // namespace
}  // namespace stagewright
