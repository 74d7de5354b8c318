// The device's code: every kernel as an entry of its own, found by its name in the image that the
// program carries.
#include "runtime/compute/kernels/cuda_run.h"
#include "runtime/compute/kernels/device_kernels.h"

namespace stagewright::kernels {

#define STAGEWRIGHT_DEFINE_ENTRY(name, ...)                                         \
  extern "C" __global__ void name(Index count, Index columns, __VA_ARGS__ kernel) { \
    run_on_gpu(count, columns, kernel);                                             \
  }
STAGEWRIGHT_DEVICE_KERNELS(STAGEWRIGHT_DEFINE_ENTRY)
#undef STAGEWRIGHT_DEFINE_ENTRY

}  // namespace stagewright::kernels
