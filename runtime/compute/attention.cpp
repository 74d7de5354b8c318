#include "runtime/compute/attention.h"

#include <algorithm>
#include <array>

#include "core/model/attention_workspace.h"
#include "runtime/compute/attention_blocks.h"
#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {
namespace {

class CpuSteps {
 public:
  void gemm(const Gemm& product) { kernels::gemm(product); }
  template <class Kernel>
  void rows(Index rows, const Kernel& kernel) {
    launch_rows(rows, kernel);
  }
  void clear(float* x, Index count) { std::fill_n(x, count, 0.0F); }
  float* column() { return column_.data(); }

 private:
  std::array<float, static_cast<std::size_t>(kBlock)> column_{};
};

Bytes workspace(const AttentionShape& shape, bool backward) {
  OpShape op;
  op.sequence = shape.sequence;
  return Bytes(attention_workspace_elements(op, backward) * static_cast<Index>(sizeof(float)));
}

}  // namespace

Bytes attention_forward_workspace(const AttentionShape& shape) {
  return workspace(shape, false);
}

void attention_forward(const AttentionForward& arguments) {
  CpuSteps steps;
  attention_forward_by(steps, arguments);
}

Bytes attention_backward_workspace(const AttentionShape& shape) {
  return workspace(shape, true);
}

void attention_backward(const AttentionBackward& arguments) {
  CpuSteps steps;
  attention_backward_by(steps, arguments);
}

}  // namespace stagewright::kernels
