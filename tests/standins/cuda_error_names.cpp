// The names of the errors of the stand-in for the CUDA runtime, and what was wrong.

#include <cuda_runtime_api.h>

#include "problems.h"

extern "C" {

const char* cudaGetErrorName(cudaError_t code) {
  switch (code) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorInvalidResourceHandle:
      return "cudaErrorInvalidResourceHandle";
    case cudaErrorNotReady:
      return "cudaErrorNotReady";
    default:
      return "cudaErrorUnknown";
  }
}

const char* cudaGetErrorString(cudaError_t code) {
  if (code == cudaErrorMemoryAllocation) {
    return "out of memory";
  }
  return code == cudaErrorNoDevice ? "no CUDA-capable device is detected"
                                   : standin::last_problem_of_this_thread();
}
}
