#include "runtime/trainer/own_process.h"

#include <memory>
#include <utility>

#include "runtime/backend_error.h"
#include "runtime/comm/nccl_world.h"

namespace stagewright {

Result<void> run_one_rank(RunOptions& options,
                          const LaunchEnvironment& launch,
                          CudaOptions cuda,
                          const std::string& nccl_library) {
  cuda.device = launch.local_rank;
  if (auto tried = make_cuda_device(cuda); !tried) {
    return pass_on(std::move(tried));
  }
  options.make_world =
      [launch, nccl_library, cuda, timeout = options.timeout](const WorldSpec& spec) {
        return make_nccl_world(spec,
                               {.launch = launch,
                                .timeout = timeout,
                                .cuda_library = cuda.cuda_library,
                                .nccl_library = nccl_library});
      };
  options.make_device = [cuda](RankId) {
    auto device = make_cuda_device(cuda);
    if (!device) {
      throw BackendError(device.error());
    }
    return *std::move(device);
  };
  return {};
}

}  // namespace stagewright
