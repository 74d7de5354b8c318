#include "runtime/comm/cuda_event_pool.h"

namespace stagewright {

CudaEventPool::~CudaEventPool() {
  for (const cudaEvent_t event : free_) {
    (void)cuda_->cudaEventDestroy(event);
  }
}

cudaEvent_t CudaEventPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const cudaEvent_t event = free_.back();
      free_.pop_back();
      return event;
    }
  }
  cudaEvent_t made = nullptr;
  cuda_->check(cuda_->cudaEventCreateWithFlags(&made, cudaEventDefault), "cudaEventCreate");
  return made;
}

void CudaEventPool::give_back(cudaEvent_t event) {
  const std::lock_guard lock(mutex_);
  free_.push_back(event);
}

}  // namespace stagewright
