#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/libraries/cuda_library.h"

namespace stagewright {

/// Events of a device, which are taken again when nobody holds them any more.  Any thread.
class CudaEventPool {
 public:
  explicit CudaEventPool(std::shared_ptr<const CudaLibrary> cuda) : cuda_(std::move(cuda)) {}
  CudaEventPool(const CudaEventPool&) = delete;
  CudaEventPool& operator=(const CudaEventPool&) = delete;
  ~CudaEventPool();

  /// With timing.  Throws BackendError.
  [[nodiscard]] cudaEvent_t take();
  void give_back(cudaEvent_t event);

 private:
  std::shared_ptr<const CudaLibrary> cuda_;
  std::mutex mutex_;
  std::vector<cudaEvent_t> free_;
};

}  // namespace stagewright
