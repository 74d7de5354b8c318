#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "runtime/compute/cuda_device.h"
#include "runtime/compute/cuda_queue.h"

namespace stagewright {

/// Captures runs of operations that are the same in every step as graphs, and puts those on the
/// queue instead: one call where there were as many as kernels.
///
/// With kWhereFaster every run is measured by events around it: it runs once to warm up, then
/// kTimed times as it is given, is captured, and runs kTimed times as a graph; the smaller least
/// time wins.  What cannot be captured stays as it is.
class CudaReplay {
 public:
  CudaReplay(const CudaQueue& queue, ReplayUse use) : queue_(queue), use_(use) {}
  CudaReplay(const CudaReplay&) = delete;
  CudaReplay& operator=(const CudaReplay&) = delete;
  ~CudaReplay();

  [[nodiscard]] ReplayUse use() const { return use_; }
  /// Runs it, or what was captured of it.  Throws what `execute` throws, and BackendError.
  void run(std::size_t number, const std::function<void()>& execute);
  /// All that was put on the queue is done.
  void end_step();
  /// How many runs are replayed; "" where there are none.
  [[nodiscard]] std::string note() const;

 private:
  static constexpr int kTimed = 3;

  struct Run {
    int runs = 0;
    cudaGraphExec_t graph = nullptr;
    bool given_up = false;  ///< it stays as it is given
    cudaEvent_t begun = nullptr;
    cudaEvent_t ended = nullptr;
    bool timing = false;  ///< the events are those of this step
    float given_ms = std::numeric_limits<float>::infinity();
    float replayed_ms = std::numeric_limits<float>::infinity();
  };

  void measure(Run& run, const std::function<void()>& body);
  [[nodiscard]] bool capture(Run& run, const std::function<void()>& execute);
  void launch(const Run& run) const;
  void drop_graph(Run& run) const;
  void destroy_events(Run& run) const;

  const CudaQueue& queue_;
  ReplayUse use_;
  std::map<std::size_t, Run> runs_;
  std::string refused_;  ///< why something could not be captured
};

}  // namespace stagewright
