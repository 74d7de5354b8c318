#include "runtime/trainer/shared_device.h"

#include <utility>

#include "runtime/comm/cuda_mover.h"
#include "runtime/comm/in_process.h"

namespace stagewright {

Result<void> share_cuda_device(RunOptions& options, const CudaOptions& cuda) {
  auto maker = cuda_device_maker(cuda);
  if (!maker) {
    return pass_on(std::move(maker));
  }
  auto mover = make_cuda_mover(cuda);
  if (!mover) {
    return pass_on(std::move(mover));
  }
  options.make_world = [timeout = options.timeout, mover = *mover](const WorldSpec& spec) {
    return make_in_process_world(spec, {.timeout = timeout, .mover = mover});
  };
  options.make_device = *std::move(maker);
  return {};
}

}  // namespace stagewright
