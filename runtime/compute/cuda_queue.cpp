#include "runtime/compute/cuda_queue.h"

#include <algorithm>
#include <utility>

#include "core/schedule/lifetimes.h"

namespace stagewright {

namespace {

class CudaMemory final : public DeviceMemory {
 public:
  CudaMemory(std::shared_ptr<const CudaLibrary> cuda, Bytes size) : cuda_(std::move(cuda)) {
    const auto wanted = std::max<std::size_t>(static_cast<std::size_t>(size.count()), 1);
    const cudaError_t status = cuda_->cudaMalloc(&data_, wanted);
    if (status == cudaErrorMemoryAllocation) {
      throw out_of_memory(size);
    }
    cuda_->check(status, "cudaMalloc");
  }
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;
  ~CudaMemory() override { (void)cuda_->cudaFree(data_); }

  [[nodiscard]] std::byte* data() override { return static_cast<std::byte*>(data_); }

 private:
  std::shared_ptr<const CudaLibrary> cuda_;
  void* data_ = nullptr;
};

}  // namespace

CudaQueue::CudaQueue(std::shared_ptr<const CudaLibrary> cuda, int device)
    : cuda_(std::move(cuda)), device_(device) {
  enter();
  cuda_->check(cuda_->cudaStreamCreateWithFlags(&own_, cudaStreamNonBlocking), "cudaStreamCreate");
  stream_ = own_;
}

CudaQueue::~CudaQueue() {
  (void)cuda_->cudaStreamSynchronize(own_);
  (void)cuda_->cudaStreamDestroy(own_);
}

void CudaQueue::enter() const {
  cuda_->check(cuda_->cudaSetDevice(device_), "cudaSetDevice");
}

void CudaQueue::synchronize() const {
  cuda_->check(cuda_->cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

std::unique_ptr<DeviceMemory> CudaQueue::allocate(Bytes size) const {
  return std::make_unique<CudaMemory>(cuda_, size);
}

void CudaQueue::clear(void* data, Bytes size) const {
  cuda_->check(cuda_->cudaMemsetAsync(data, 0, static_cast<std::size_t>(size.count()), stream_),
               "cudaMemsetAsync");
}

void* CudaScratch::take_bytes(std::size_t bytes) {
  constexpr auto kAlignment = static_cast<std::size_t>(kArenaAlignment);
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (taken_ + rounded > size_) {
    size_ = std::max(2 * size_, rounded);
    blocks_.push_back(queue_.allocate(Bytes(static_cast<std::int64_t>(size_))));
    taken_ = 0;
  }
  std::byte* const taken = blocks_.back()->data() + taken_;
  taken_ += rounded;
  return taken;
}

}  // namespace stagewright
