/// The entry point of one libFuzzer program; the build names its target.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "targets.h"

// libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const stagewright::FuzzTarget& target = stagewright::fuzz_target(STAGEWRIGHT_FUZZ_TARGET);
  target.run(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
