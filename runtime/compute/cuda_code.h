#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string_view>

#include "runtime/compute/cuda_queue.h"
#include "runtime/compute/kernels/device_grid.h"
#include "runtime/compute/kernels/device_kernels.h"

namespace stagewright {

/// The device's code, loaded, whose entries go on a queue.
class CudaCode {
 public:
  /// Throws BackendError.  The queue outlives it.
  CudaCode(const CudaQueue& queue, std::span<const std::byte> image);
  CudaCode(const CudaCode&) = delete;
  CudaCode& operator=(const CudaCode&) = delete;
  ~CudaCode();

  /// Of so many rows or elements; nothing for none.  Throws BackendError.
  template <class Kernel>
  void launch(const Kernel& kernel, kernels::Index count) {
    static_assert(kernels::kEntryOf<Kernel> != nullptr, "an entry of the device's code");
    constexpr kernels::KernelForm kForm = kernels::kFormOf<Kernel>;
    kernels::Index columns = 1;
    if constexpr (kForm == kernels::KernelForm::kColumns) {
      columns = kernel.width;
    }
    if (count > 0 && columns > 0) {
      Kernel argument = kernel;
      std::array<void*, 3> arguments = {&count, &columns, &argument};
      launch_entry(kernels::kEntryOf<Kernel>, kernels::grid_of(kForm, count, columns), arguments);
    }
  }

 private:
  void launch_entry(const char* entry, const kernels::DeviceGrid& grid, std::span<void*> arguments);

  const CudaQueue& queue_;
  cudaLibrary_t code_ = nullptr;
  std::map<std::string_view, cudaKernel_t> entries_;
};

}  // namespace stagewright
