#include "runtime/compute/kernels/convert.h"

#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {

void convert(const ToBFloat16& kernel, Index count) {
  launch_elements(count, kernel);
}

void convert(const FromBFloat16& kernel, Index count) {
  launch_elements(count, kernel);
}

void convert(const ToFloat16& kernel, Index count) {
  launch_elements(count, kernel);
}

void convert(const FromFloat16& kernel, Index count) {
  launch_elements(count, kernel);
}

}  // namespace stagewright::kernels
