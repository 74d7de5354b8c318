#include "runtime/compute/kernels/patches.h"

#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {

void lay_out_patches(const LayOutPatches<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void add_patches(const AddPatches<float>& kernel, Index images) {
  launch_rows(images, kernel);
}

}  // namespace stagewright::kernels
