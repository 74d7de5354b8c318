#include "runtime/compute/kernels/pool.h"

#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {

void maximum_pool(const MaximumPool<float>& kernel, Index images) {
  launch_rows(images, kernel);
}

void maximum_pool_gradient(const MaximumPoolGradient<float>& kernel, Index images) {
  launch_rows(images, kernel);
}

void average_pool(const AveragePool<float>& kernel, Index images) {
  launch_rows(images, kernel);
}

void average_pool_gradient(const AveragePoolGradient<float>& kernel, Index images) {
  launch_rows(images, kernel);
}

void scale_pixels(const ScalePixels<float>& kernel, Index count) {
  launch_elements(count, kernel);
}

}  // namespace stagewright::kernels
