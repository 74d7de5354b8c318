// Graphs of the stand-in for the CUDA runtime: what was put on a stream while it captured, to be
// put on a stream again, with all that is checked there.

#include "graph_capture.h"

#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "problems.h"

struct CUgraph_st {
  std::shared_ptr<const standin::GraphNodes> nodes;
};
struct CUgraphExec_st {
  std::shared_ptr<const standin::GraphNodes> nodes;
};

namespace standin {

namespace {

/// The stream that this thread captures.
thread_local cudaStream_t captured = nullptr;

struct Graphs {
  std::mutex mutex;
  std::set<const void*> alive;
};

[[nodiscard]] Graphs& graphs() {
  static auto* const made = new Graphs;
  return *made;
}

void begin_life(const void* graph) {
  const std::lock_guard lock(graphs().mutex);
  graphs().alive.insert(graph);
}

[[nodiscard]] bool end_life(const void* graph) {
  const std::lock_guard lock(graphs().mutex);
  return graphs().alive.erase(graph) == 1;
}

[[nodiscard]] bool is_alive(const void* graph) {
  const std::lock_guard lock(graphs().mutex);
  return graphs().alive.contains(graph);
}

cudaError_t refuse(cudaError_t code, const std::string& text) {
  note_problem(text);
  return code;
}

}  // namespace

void put(cudaStream_t stream, std::function<void()> operation) {
  if (stream->capture == nullptr) {
    return stream->stream.enqueue(std::move(operation));
  }
  stream->capture->nodes.emplace_back(
      [operation = std::move(operation)](cudaStream_t on) { on->stream.enqueue(operation); });
}

void note(cudaStream_t stream, std::function<void(cudaStream_t)> note) {
  if (stream->capture == nullptr) {
    return note(stream);
  }
  stream->capture->nodes.push_back(std::move(note));
}

bool spoils_capture(const std::string& call, cudaStream_t stream) {
  const cudaStream_t of = stream != nullptr ? stream : captured;
  if (of == nullptr || of->capture == nullptr) {
    return false;
  }
  of->capture->spoilt = call;
  note_problem(fmt::format("{} while a graph is captured", call));
  return true;
}

}  // namespace standin

using standin::refuse;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (stream->capture != nullptr || standin::captured != nullptr ||
      mode != cudaStreamCaptureModeThreadLocal) {
    return refuse(cudaErrorIllegalState, "a capture within another, or not of this thread alone");
  }
  stream->capture = std::make_shared<standin::Capture>();
  stream->capture->thread = std::this_thread::get_id();
  standin::captured = stream;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (stream->capture == nullptr || stream->capture->thread != std::this_thread::get_id()) {
    return refuse(cudaErrorStreamCaptureUnmatched, "the end of a capture that was not begun here");
  }
  const auto capture = std::exchange(stream->capture, nullptr);
  standin::captured = nullptr;
  if (!capture->spoilt.empty()) {
    return cudaErrorStreamCaptureInvalidated;
  }
  *graph = new CUgraph_st{std::make_shared<const standin::GraphNodes>(std::move(capture->nodes))};
  standin::begin_life(*graph);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made,
                                 cudaGraph_t graph,
                                 unsigned long long /*flags*/) {
  if (!standin::is_alive(graph)) {
    return refuse(cudaErrorInvalidValue, "cudaGraphInstantiate of no graph");
  }
  *made = new CUgraphExec_st{graph->nodes};
  standin::begin_life(*made);
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  if (!standin::is_alive(graph) || standin::spoils_capture("cudaGraphLaunch", stream)) {
    return refuse(cudaErrorInvalidValue, "cudaGraphLaunch of no graph, or into another");
  }
  for (const auto& node : *graph->nodes) {
    node(stream);
  }
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  if (!standin::end_life(graph)) {
    return refuse(cudaErrorInvalidValue, "a graph is destroyed twice");
  }
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  if (!standin::end_life(graph)) {
    return refuse(cudaErrorInvalidValue, "a graph is destroyed twice");
  }
  delete graph;
  return cudaSuccess;
}
}
