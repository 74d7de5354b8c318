#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "device_stream.h"

namespace standin {

/// What a graph does, in order: notes and operations of the stream that it is launched on.
using GraphNodes = std::vector<std::function<void(cudaStream_t)>>;

/// A stream's calls while they go into a graph.
struct Capture {
  GraphNodes nodes;
  std::thread::id thread;
  std::string spoilt;  ///< by which call
};

/// Puts an operation on the stream, or into the graph that it captures.
void put(cudaStream_t stream, std::function<void()> operation);
/// What is known of the stream's next operation, now or whenever the graph is launched.
void note(cudaStream_t stream, std::function<void(cudaStream_t)> note);
/// Whether this call may not be made now: on a stream that captures (`stream`), or, without one, by
/// a thread that does.  The graph is spoilt then.
[[nodiscard]] bool spoils_capture(const std::string& call, cudaStream_t stream = nullptr);

}  // namespace standin
