#include "runtime/trainer/own_process.h"

#include <utility>

#include "runtime/comm/nccl_world.h"

namespace stagewright {

Result<void> run_one_rank(RunOptions& options,
                          const LaunchEnvironment& launch,
                          CudaOptions cuda,
                          const std::string& nccl_library) {
  cuda.device = launch.local_rank;
  auto maker = cuda_device_maker(cuda);
  if (!maker) {
    return pass_on(std::move(maker));
  }
  options.make_world =
      [launch, nccl_library, cuda, timeout = options.timeout](const WorldSpec& spec) {
        return make_nccl_world(spec,
                               {.launch = launch,
                                .timeout = timeout,
                                .cuda_library = cuda.cuda_library,
                                .nccl_library = nccl_library});
      };
  options.make_device = *std::move(maker);
  return {};
}

}  // namespace stagewright
