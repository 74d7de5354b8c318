#include "runtime/compute/cuda_replay.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/backend_error.h"

namespace stagewright {

CudaReplay::~CudaReplay() {
  for (auto& [number, run] : runs_) {
    drop_graph(run);
    destroy_events(run);
  }
}

void CudaReplay::run(std::size_t number, const std::function<void()>& execute) {
  if (use_ == ReplayUse::kNever) {
    return execute();
  }
  Run& run = runs_[number];
  const int before = run.runs++;
  const bool always = use_ == ReplayUse::kAlways;
  const int captured_at = always ? 1 : 1 + kTimed;
  if (run.given_up || before == 0) {
    return execute();
  }
  if (before < captured_at) {
    return measure(run, execute);
  }
  if (before == captured_at && !capture(run, execute)) {
    return execute();
  }
  if (!always && before > captured_at && before <= captured_at + kTimed) {
    return measure(run, [&] { launch(run); });
  }
  launch(run);
}

void CudaReplay::measure(Run& run, const std::function<void()>& body) {
  const CudaLibrary& cuda = queue_.cuda();
  for (cudaEvent_t* event : {&run.begun, &run.ended}) {
    if (*event == nullptr) {
      cuda.check(cuda.cudaEventCreateWithFlags(event, cudaEventDefault), "cudaEventCreate");
    }
  }
  cuda.check(cuda.cudaEventRecord(run.begun, queue_.stream()), "cudaEventRecord");
  body();
  cuda.check(cuda.cudaEventRecord(run.ended, queue_.stream()), "cudaEventRecord");
  run.timing = true;
}

bool CudaReplay::capture(Run& run, const std::function<void()>& execute) {
  const CudaLibrary& cuda = queue_.cuda();
  cudaGraph_t graph = nullptr;
  std::string failed;
  if (const cudaError_t begun =
          cuda.cudaStreamBeginCapture(queue_.stream(), cudaStreamCaptureModeThreadLocal);
      begun != cudaSuccess) {
    run.given_up = true;
    refused_ = cuda.cudaGetErrorString(begun);
    return false;
  }
  try {
    execute();
  } catch (const BackendError& error) {
    failed = error.error().message;
  }
  const cudaError_t ended = cuda.cudaStreamEndCapture(queue_.stream(), &graph);
  if (failed.empty() && ended != cudaSuccess) {
    failed = cuda.cudaGetErrorString(ended);
  }
  if (failed.empty()) {
    const cudaError_t made = cuda.cudaGraphInstantiate(&run.graph, graph, 0);
    failed = made == cudaSuccess ? "" : cuda.cudaGetErrorString(made);
  }
  if (graph != nullptr) {
    (void)cuda.cudaGraphDestroy(graph);
  }
  if (!failed.empty()) {
    run.graph = nullptr;
    run.given_up = true;
    refused_ = failed;
  }
  return failed.empty();
}

void CudaReplay::launch(const Run& run) const {
  const CudaLibrary& cuda = queue_.cuda();
  cuda.check(cuda.cudaGraphLaunch(run.graph, queue_.stream()), "cudaGraphLaunch");
}

void CudaReplay::end_step() {
  const CudaLibrary& cuda = queue_.cuda();
  for (auto& [number, run] : runs_) {
    if (!run.timing) {
      continue;
    }
    run.timing = false;
    float elapsed = 0;
    cuda.check(cuda.cudaEventElapsedTime(&elapsed, run.begun, run.ended), "cudaEventElapsedTime");
    float& least = run.graph == nullptr ? run.given_ms : run.replayed_ms;
    least = std::min(least, elapsed);
    if (run.runs == 2 + 2 * kTimed) {
      destroy_events(run);
      run.given_up = run.replayed_ms >= run.given_ms;
      if (run.given_up) {
        drop_graph(run);
      }
    }
  }
}

void CudaReplay::drop_graph(Run& run) const {
  if (run.graph != nullptr) {
    (void)queue_.cuda().cudaGraphExecDestroy(run.graph);
    run.graph = nullptr;
  }
}

void CudaReplay::destroy_events(Run& run) const {
  for (cudaEvent_t* event : {&run.begun, &run.ended}) {
    if (*event != nullptr) {
      (void)queue_.cuda().cudaEventDestroy(*event);
      *event = nullptr;
    }
  }
}

std::string CudaReplay::note() const {
  if (runs_.empty()) {
    return {};
  }
  const auto replayed =
      std::ranges::count_if(runs_, [](const auto& each) { return each.second.graph != nullptr; });
  std::string note =
      fmt::format("graphs: {} of {} runs of operations are replayed", replayed, runs_.size());
  if (!refused_.empty()) {
    note += fmt::format("; not all could be captured: {}", refused_);
  }
  return note;
}

}  // namespace stagewright
