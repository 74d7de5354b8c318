#pragma once

#include <functional>
#include <string>

#include "runtime/compute/kernels/device_grid.h"

namespace standin {

/// An entry of the device's code, as the CPU runs it: the same functor.
struct DeviceEntry {
  std::string name;
  stagewright::kernels::KernelForm form = stagewright::kernels::KernelForm::kRows;
  /// The launch with these arguments, which are copied.
  std::function<std::function<void()>(void* const* arguments)> bind;
};

/// Null where there is no such entry.
[[nodiscard]] const DeviceEntry* find_entry(const std::string& name);

}  // namespace standin
