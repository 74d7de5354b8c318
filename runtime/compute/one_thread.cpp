#include "runtime/compute/one_thread.h"

#include <dnnl.h>

#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
// Of the OpenMP API; <omp.h> comes with the compiler, and not with every one.
extern "C" {
int omp_get_max_threads();
void omp_set_num_threads(int count);
}
#else
namespace {
int omp_get_max_threads() {
  return 1;
}
void omp_set_num_threads(int /*count*/) {}
}  // namespace
#endif

namespace stagewright::kernels {

OneThread::OneThread() : before_(omp_get_max_threads()) {
  omp_set_num_threads(1);
}

OneThread::~OneThread() {
  omp_set_num_threads(before_);
}

}  // namespace stagewright::kernels
