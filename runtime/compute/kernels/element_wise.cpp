#include "runtime/compute/kernels/element_wise.h"

#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {

void fill(const Fill<float>& kernel, Index count) {
  launch_elements(count, kernel);
}

void add(const Add<float>& kernel, Index count) {
  launch_elements(count, kernel);
}

void scale(const Scale<float>& kernel, Index count) {
  launch_elements(count, kernel);
}

void accumulate(const Accumulate<float>& kernel, Index count) {
  launch_elements(count, kernel);
}

}  // namespace stagewright::kernels
