#include "runtime/compute/cuda_code.h"

#include <fmt/format.h>

namespace stagewright {

CudaCode::CudaCode(const CudaQueue& queue, std::span<const std::byte> image) : queue_(queue) {
  const CudaLibrary& cuda = queue_.cuda();
  cuda.check(
      cuda.cudaLibraryLoadData(&code_, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      "cudaLibraryLoadData");
}

CudaCode::~CudaCode() {
  (void)queue_.cuda().cudaLibraryUnload(code_);
}

void CudaCode::launch_entry(const char* entry,
                            const kernels::DeviceGrid& grid,
                            std::span<void*> arguments) {
  const CudaLibrary& cuda = queue_.cuda();
  cudaKernel_t& found = entries_[entry];
  if (found == nullptr) {
    cuda.check(cuda.cudaLibraryGetKernel(&found, code_, entry),
               fmt::format("cudaLibraryGetKernel of '{}'", entry));
  }
  cuda.check(cuda.cudaLaunchKernel(static_cast<const void*>(found),
                                   dim3(grid.blocks, 1, 1),
                                   dim3(grid.threads_x, grid.threads_y, 1),
                                   arguments.data(),
                                   grid.shared_bytes,
                                   queue_.stream()),
             fmt::format("the launch of '{}'", entry));
}

}  // namespace stagewright
