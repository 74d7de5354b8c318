#include "runtime/comm/cuda_mover.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "core/base/check.h"
#include "runtime/backend_error.h"
#include "runtime/compute/cuda_code.h"
#include "runtime/compute/cuda_queue.h"

namespace stagewright {

namespace {

/// Of the running sum.
constexpr std::size_t kSumBytes = std::size_t{1} << 20;

class CudaMover final : public DataMover {
 public:
  CudaMover(std::shared_ptr<const CudaLibrary> cuda, std::span<const std::byte> image, int device)
      : queue_(std::move(cuda), device),
        code_(queue_, image),
        sum_(queue_.allocate(Bytes(std::int64_t{kSumBytes}))) {}

  void copy(std::byte* out, const std::byte* in, std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    queue_.enter();
    put_copy(out, in, bytes);
    queue_.synchronize();
  }

  void reduce(ElementType type,
              Reduction reduction,
              std::span<const std::byte* const> ins,
              std::span<std::byte* const> outs,
              std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    queue_.enter();
    for (std::size_t done = 0; done < bytes; done += kSumBytes) {
      const std::size_t block = std::min(kSumBytes, bytes - done);
      put_copy(sum_->data(), ins.front() + done, block);
      for (const std::byte* in : ins.subspan(1)) {
        accumulate(type, reduction == Reduction::kMax, in + done, block);
      }
      for (std::byte* out : outs) {
        put_copy(out + done, sum_->data(), block);
      }
    }
    queue_.synchronize();
  }

 private:
  void put_copy(void* out, const void* in, std::size_t bytes) const {
    if (out != in && bytes > 0) {
      const CudaLibrary& cuda = queue_.cuda();
      cuda.check(cuda.cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, queue_.stream()),
                 "cudaMemcpyAsync");
    }
  }

  template <class T, class Kernel>
  void put(const void* in, bool maximum, std::size_t bytes) {
    code_.launch(Kernel{reinterpret_cast<T*>(sum_->data()), static_cast<const T*>(in), maximum},
                 static_cast<kernels::Index>(bytes / sizeof(T)));
  }

  void accumulate(ElementType type, bool maximum, const void* in, std::size_t bytes) {
    switch (type) {
      case ElementType::kFloat32:
        return put<float, kernels::CombineFloat32>(in, maximum, bytes);
      case ElementType::kBFloat16:
        return put<std::uint16_t, kernels::CombineBFloat16>(in, maximum, bytes);
      case ElementType::kFloat16:
        return put<std::uint16_t, kernels::CombineFloat16>(in, maximum, bytes);
      case ElementType::kInt32:
        return put<std::int32_t, kernels::CombineInt32>(in, maximum, bytes);
      case ElementType::kByte:
        SW_CHECK(false, "bytes are moved, never reduced");
    }
  }

  std::mutex mutex_;
  CudaQueue queue_;
  CudaCode code_;
  std::unique_ptr<DeviceMemory> sum_;
};

}  // namespace

Result<std::shared_ptr<DataMover>> make_cuda_mover(const CudaOptions& options) {
  Result<CudaFound> found = find_cuda(options);
  if (!found) {
    return pass_on(std::move(found));
  }
  try {
    return std::make_shared<CudaMover>(found->cuda, found->image, options.device);
  } catch (const BackendError& error) {
    return tl::unexpected<Error>(error.error());
  }
}

}  // namespace stagewright
