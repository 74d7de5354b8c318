#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"

namespace stagewright {

/// What the CUDA runtime says of a device.
struct CudaDeviceFacts {
  std::string name;         ///< "NVIDIA H200"
  std::string pci_address;  ///< "00000000:17:00.0"
  int generation = 0;       ///< 90: sm_90
  int multiprocessors = 0;
  Bytes memory{};
  friend bool operator==(const CudaDeviceFacts&, const CudaDeviceFacts&) = default;
};

struct CudaMachine {
  std::string library;  ///< file of the CUDA runtime
  int runtime = 0;      ///< its version: 13000
  int driver = 0;       ///< newest version of CUDA that the driver knows
  std::vector<CudaDeviceFacts> devices;
};

/// The devices that this process sees, at least one; `library` as CudaOptions::cuda_library.
/// kUnsupported, saying what is missing, where there is none.
[[nodiscard]] Result<CudaMachine> find_cuda_machine(const std::string& library = {});

}  // namespace stagewright
