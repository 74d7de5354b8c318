#include "runtime/compute/kernels/device_image.h"

#if defined(STAGEWRIGHT_DEVICE_IMAGE)

// The linker keeps the file's bytes as they are.
asm(".section .rodata\n"
    ".balign 64\n"
    "stagewright_device_image_begin:\n"
    ".incbin \"" STAGEWRIGHT_DEVICE_IMAGE
    "\"\n"
    "stagewright_device_image_end:\n"
    ".previous\n");

extern "C" {
extern const std::byte stagewright_device_image_begin[];
extern const std::byte stagewright_device_image_end[];
}

namespace stagewright {

std::span<const std::byte> device_image() {
  return {stagewright_device_image_begin, stagewright_device_image_end};
}

}  // namespace stagewright

#else

namespace stagewright {

std::span<const std::byte> device_image() {
  return {};
}

}  // namespace stagewright

#endif
