#include "device_code.h"

#include <map>
#include <utility>

#include "runtime/compute/kernels/device_kernels.h"
#include "runtime/compute/kernels/lane.h"

namespace standin {

namespace {

using stagewright::kernels::Index;
using stagewright::kernels::KernelForm;
using stagewright::kernels::kFormOf;
using stagewright::kernels::Lane;

template <class Kernel>
void run(Index count, Index columns, const Kernel& kernel) {
  if constexpr (kFormOf<Kernel> == KernelForm::kRows) {
    alignas(64) float scratch[Lane::kScratch];
    for (Index row = 0; row < count; ++row) {
      kernel(Lane(scratch), row);
    }
  } else if constexpr (kFormOf<Kernel> == KernelForm::kElements) {
    for (Index i = 0; i < count; ++i) {
      kernel(i);
    }
  } else {
    for (Index c = 0; c < columns; ++c) {
      float sum = 0.0F;
      for (Index row = 0; row < count; ++row) {
        sum += kernel.term(row, c);
      }
      kernel.store(c, sum);
    }
  }
}

template <class Kernel>
[[nodiscard]] DeviceEntry entry(const char* name) {
  return {name, kFormOf<Kernel>, [](void* const* arguments) -> std::function<void()> {
            return [count = *static_cast<const Index*>(arguments[0]),
                    columns = *static_cast<const Index*>(arguments[1]),
                    kernel = *static_cast<const Kernel*>(arguments[2])] {
              run(count, columns, kernel);
            };
          }};
}

[[nodiscard]] std::map<std::string, DeviceEntry> all_entries() {
  using namespace stagewright::kernels;  // NOLINT(google-build-using-namespace): names of the list
  std::map<std::string, DeviceEntry> entries;
#define STANDIN_ENTRY(name, ...) entries.emplace(#name, entry<__VA_ARGS__>(#name));
  STAGEWRIGHT_DEVICE_KERNELS(STANDIN_ENTRY)
#undef STANDIN_ENTRY
  return entries;
}

}  // namespace

const DeviceEntry* find_entry(const std::string& name) {
  static const auto* const entries = new std::map(all_entries());
  const auto found = entries->find(name);
  return found == entries->end() ? nullptr : &found->second;
}

}  // namespace standin
