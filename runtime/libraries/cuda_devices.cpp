#include "runtime/libraries/cuda_devices.h"

#include <fmt/format.h>

#include "runtime/backend_error.h"
#include "runtime/libraries/cuda_library.h"

namespace stagewright {

Result<CudaMachine> find_cuda_machine(const std::string& library) {
  auto cuda = load_cuda(library);
  if (!cuda) {
    return pass_on(std::move(cuda));
  }
  const Result<int> count = count_devices(**cuda);
  if (!count) {
    return tl::unexpected<Error>(count.error());
  }
  try {
    CudaMachine machine;
    machine.library = (*cuda)->file;
    (*cuda)->check((*cuda)->cudaRuntimeGetVersion(&machine.runtime), "cudaRuntimeGetVersion");
    (*cuda)->check((*cuda)->cudaDriverGetVersion(&machine.driver), "cudaDriverGetVersion");
    for (int device = 0; device < *count; ++device) {
      cudaDeviceProp of{};
      (*cuda)->check((*cuda)->cudaGetDeviceProperties(&of, device), "cudaGetDeviceProperties");
      machine.devices.push_back(
          {.name = of.name,
           .pci_address =
               fmt::format("{:08X}:{:02X}:{:02X}.0", of.pciDomainID, of.pciBusID, of.pciDeviceID),
           .generation = 10 * of.major + of.minor,
           .multiprocessors = of.multiProcessorCount,
           .memory = Bytes(static_cast<std::int64_t>(of.totalGlobalMem))});
    }
    return machine;
  } catch (const BackendError& failure) {
    return tl::unexpected<Error>(failure.error());
  }
}

}  // namespace stagewright
