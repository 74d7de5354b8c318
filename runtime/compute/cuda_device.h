#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "runtime/compute/compute_device.h"

namespace stagewright {

/// Whether what is the same in every step is captured once, as graphs of CUDA.
enum class ReplayUse : std::uint8_t {
  kNever,
  kWhereFaster,  ///< than giving the device one kernel after the other, measured in the first steps
  kAlways        ///< from the second step on
};

struct CudaOptions {
  int device = 0;  ///< as CUDA counts those that are visible
  /// Files to load instead of the machine's libraries; empty: as SharedLibrary::open finds them.
  std::string cuda_library;
  std::string cublas_lt_library;
  std::string cudnn_library;
  /// The device's code; empty: the one that the program carries.
  std::span<const std::byte> image;
  /// Of matrix products: what cuBLASLt's fast algorithms want on the devices of 2022 and later.
  Bytes gemm_workspace = Bytes(std::int64_t{32} << 20);
  ReplayUse replay = ReplayUse::kWhereFaster;
};

struct CudaLibrary;

/// What all that use a device need.
struct CudaFound {
  std::shared_ptr<const CudaLibrary> cuda;
  std::span<const std::byte> image;
};

/// kUnsupported, saying what is missing, without the library, the device or code for it.
[[nodiscard]] Result<CudaFound> find_cuda(const CudaOptions& options);

/// A device of CUDA.  Attention in 16 bits goes to cuDNN where that takes it; products of fp32 and
/// of 16-bit matrices go to cuBLASLt; the other operations compute in fp32, on widened copies of
/// 16-bit operands.  kUnsupported, saying what is missing, without the libraries, a device or, in
/// the program, code for devices.
[[nodiscard]] Result<std::unique_ptr<ComputeDevice>> make_cuda_device(const CudaOptions& options);

/// Makes such a device for each rank that it is asked for.  One is tried at once: kUnsupported as
/// above; what fails later throws BackendError.
[[nodiscard]] Result<std::function<std::unique_ptr<ComputeDevice>(RankId)>> cuda_device_maker(
    const CudaOptions& options);

}  // namespace stagewright
