#pragma once

namespace stagewright::kernels {

/// oneDNN takes its thread count from OpenMP, whose setting belongs to the calling thread: one
/// inside the scope, the caller's own again after it.  Does nothing where oneDNN was built
/// otherwise.
class OneThread {
 public:
  OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread();

 private:
  int before_;
};

}  // namespace stagewright::kernels
