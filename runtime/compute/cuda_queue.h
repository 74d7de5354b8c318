#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "core/base/units.h"
#include "runtime/compute/compute_device.h"
#include "runtime/libraries/cuda_library.h"

namespace stagewright {

/// The stream on which a rank computes, and memory of its device.
class CudaQueue {
 public:
  /// On a stream of its own.  Throws BackendError.
  CudaQueue(std::shared_ptr<const CudaLibrary> cuda, int device);
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;
  ~CudaQueue();

  /// Goes on on another stream, which stays the caller's.
  void use(cudaStream_t stream) { stream_ = stream; }

  [[nodiscard]] const CudaLibrary& cuda() const { return *cuda_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  /// The calling thread's calls go to this device.
  void enter() const;
  void synchronize() const;

  /// Not zeroed.  Throws BackendError.
  [[nodiscard]] std::unique_ptr<DeviceMemory> allocate(Bytes size) const;
  void clear(void* data, Bytes size) const;

 private:
  std::shared_ptr<const CudaLibrary> cuda_;
  int device_;
  cudaStream_t own_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

/// Memory that operations need while they run, given to one after the other, as the queue orders
/// them.  No arena knows of it.  It grows, and is not given back before the end: to free memory
/// waits for all that a device does, also for what other ranks have yet to send.
class CudaScratch {
 public:
  explicit CudaScratch(const CudaQueue& queue) : queue_(queue) {}

  /// What was taken before may be taken again.
  void begin_operation() { taken_ = 0; }
  /// Stays until the next begin_operation().
  template <class T>
  [[nodiscard]] T* take(std::int64_t count) {
    return static_cast<T*>(take_bytes(static_cast<std::size_t>(count) * sizeof(T)));
  }

 private:
  [[nodiscard]] void* take_bytes(std::size_t bytes);

  const CudaQueue& queue_;
  std::vector<std::unique_ptr<DeviceMemory>> blocks_;  ///< the last is in use
  std::size_t size_ = 0;                               ///< of the last
  std::size_t taken_ = 0;
};

}  // namespace stagewright
