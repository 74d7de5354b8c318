#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/base/result.h"
#include "runtime/libraries/shared_library.h"

/// The calls of the CUDA runtime that we make, with their types where C++ overloads the names; one
/// a line, which clang-format would not leave so.
// clang-format off
#define STAGEWRIGHT_CUDA_CALLS(call) \
  call(cudaRuntimeGetVersion, decltype(&::cudaRuntimeGetVersion)) \
  call(cudaDriverGetVersion, decltype(&::cudaDriverGetVersion)) \
  call(cudaGetDeviceCount, decltype(&::cudaGetDeviceCount)) \
  call(cudaGetDeviceProperties, cudaError_t (*)(cudaDeviceProp*, int)) \
  call(cudaSetDevice, decltype(&::cudaSetDevice)) \
  call(cudaMalloc, cudaError_t (*)(void**, std::size_t)) \
  call(cudaFree, decltype(&::cudaFree)) \
  call(cudaMemcpyAsync, decltype(&::cudaMemcpyAsync)) \
  call(cudaMemsetAsync, decltype(&::cudaMemsetAsync)) \
  call(cudaStreamCreateWithFlags, decltype(&::cudaStreamCreateWithFlags)) \
  call(cudaStreamDestroy, decltype(&::cudaStreamDestroy)) \
  call(cudaStreamQuery, decltype(&::cudaStreamQuery)) \
  call(cudaStreamSynchronize, decltype(&::cudaStreamSynchronize)) \
  call(cudaStreamWaitEvent, cudaError_t (*)(cudaStream_t, cudaEvent_t, unsigned)) \
  call(cudaEventCreateWithFlags, decltype(&::cudaEventCreateWithFlags)) \
  call(cudaEventDestroy, decltype(&::cudaEventDestroy)) \
  call(cudaEventRecord, cudaError_t (*)(cudaEvent_t, cudaStream_t)) \
  call(cudaEventQuery, decltype(&::cudaEventQuery)) \
  call(cudaEventSynchronize, decltype(&::cudaEventSynchronize)) \
  call(cudaStreamBeginCapture, decltype(&::cudaStreamBeginCapture)) \
  call(cudaStreamEndCapture, decltype(&::cudaStreamEndCapture)) \
  call(cudaGraphInstantiate, cudaError_t (*)(cudaGraphExec_t*, cudaGraph_t, unsigned long long)) \
  call(cudaGraphLaunch, decltype(&::cudaGraphLaunch)) \
  call(cudaGraphDestroy, decltype(&::cudaGraphDestroy)) \
  call(cudaGraphExecDestroy, decltype(&::cudaGraphExecDestroy)) \
  call(cudaEventElapsedTime, cudaError_t (*)(float*, cudaEvent_t, cudaEvent_t)) \
  call(cudaLibraryLoadData, cudaError_t (*)(cudaLibrary_t*, const void*, \
        cudaJitOption*, void**, unsigned, cudaLibraryOption*, void**, unsigned)) \
  call(cudaLibraryUnload, decltype(&::cudaLibraryUnload)) \
  call(cudaLibraryGetKernel, decltype(&::cudaLibraryGetKernel)) \
  call(cudaLaunchKernel, cudaError_t (*)(const void*, dim3, dim3, void**, \
        std::size_t, cudaStream_t)) \
  call(cudaGetErrorName, decltype(&::cudaGetErrorName)) \
  call(cudaGetErrorString, decltype(&::cudaGetErrorString))
// clang-format on

namespace stagewright {

/// The CUDA runtime as it was found when the program ran.  Its members are its entries.
struct CudaLibrary {
  std::string file;
#define STAGEWRIGHT_CUDA_MEMBER(name, type) std::type_identity_t<type> name = nullptr;
  STAGEWRIGHT_CUDA_CALLS(STAGEWRIGHT_CUDA_MEMBER)
#undef STAGEWRIGHT_CUDA_MEMBER

  /// Throws BackendError where `status` is an error: "cudaMalloc failed: out of memory (...)".
  void check(cudaError_t status, std::string_view call) const;
};

[[nodiscard]] LibraryName cuda_library_name();

/// Of the major version that this program was built with; `path` names its file (empty: as
/// SharedLibrary::open finds it).  kUnsupported if it cannot be loaded.
[[nodiscard]] Result<std::shared_ptr<const CudaLibrary>> load_cuda(const std::string& path = {});

/// At least one.  kUnsupported, with the reason of the driver, where there is none.
[[nodiscard]] Result<int> count_devices(const CudaLibrary& cuda);

}  // namespace stagewright
