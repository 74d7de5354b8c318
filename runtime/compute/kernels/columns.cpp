#include "runtime/compute/kernels/columns.h"

#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {

void copy_columns(const CopyColumns<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void add_columns(const AddColumns<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

}  // namespace stagewright::kernels
