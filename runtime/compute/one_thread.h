#pragma once

#include <dnnl.h>

#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
// Of the OpenMP API; <omp.h> comes with the compiler, and not with every one.
extern "C" {
int omp_get_max_threads();
void omp_set_num_threads(int count);
}
#endif

namespace stagewright::kernels {

/// oneDNN takes its thread count from OpenMP, whose setting belongs to the calling thread: one
/// inside the scope, the caller's own again after it.
class OneThread {
 public:
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
  OneThread() : before_(omp_get_max_threads()) {
    omp_set_num_threads(1);
  }
  ~OneThread() {
    omp_set_num_threads(before_);
  }

 private:
  int before_;
#else
  OneThread() = default;
  ~OneThread() = default;
#endif
};

}  // namespace stagewright::kernels
