#include "runtime/libraries/nvml_library.h"

#include <utility>

#include <fmt/format.h>

#include "runtime/libraries/shared_library.h"

namespace stagewright {

namespace {

/// Sets `entry` to what the library has under this name.
template <class Function>
[[nodiscard]] Result<void> find(const SharedLibrary& library, const char* symbol, Function& entry) {
  auto found = library.entry(symbol);
  if (!found) {
    return pass_on(std::move(found));
  }
  entry = reinterpret_cast<Function>(*found);
  return {};
}

[[nodiscard]] Result<void> find_all(const SharedLibrary& library, NvmlLibrary& nvml) {
  const Result<void> found[] = {
      find(library, "nvmlInit_v2", nvml.init),
      find(library, "nvmlSystemGetDriverVersion", nvml.driver_version),
      find(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.device_at),
      find(library, "nvmlDeviceGetClockInfo", nvml.clock),
      find(library, "nvmlDeviceGetMaxClockInfo", nvml.highest_clock),
      find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml.throttle_reasons),
      find(library, "nvmlErrorString", nvml.error_text)};
  for (const Result<void>& each : found) {
    if (!each) {
      return each;
    }
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const NvmlLibrary>> load_nvml(const std::string& path) {
  const LibraryName name{.title = "NVML",
                         .file = "libnvidia-ml.so.1",
                         .variable = "STAGEWRIGHT_NVML_LIBRARY",
                         .package = "NVIDIA's driver"};
  auto library = SharedLibrary::open(name, path);
  if (!library) {
    return pass_on(std::move(library));
  }
  auto nvml = std::make_shared<NvmlLibrary>();
  nvml->file = library->file();
  if (auto found = find_all(*library, *nvml); !found) {
    return pass_on(std::move(found));
  }
  if (const int status = nvml->init(); status != 0) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("nvmlInit_v2 failed: {}", nvml->error_text(status)),
                nvml->file);
  }
  return nvml;
}

}  // namespace stagewright
