// A stand-in for the CUDA runtime library on a machine without a GPU: device memory is host memory,
// a stream is a thread that takes one operation after the other.  Stricter than the real one: what
// there would be a race, an access out of bounds or a silent nothing is a problem here, with words.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "device_memory.h"
#include "device_stream.h"
#include "problems.h"
#include "standins.h"

namespace {

struct Machine {
  std::mutex mutex;
  StandinOptions options;
  std::atomic<std::uint64_t> streams = 0;
};

[[nodiscard]] Machine& machine() {
  static auto* const made = new Machine;
  return *made;
}

[[nodiscard]] StandinOptions options() {
  const std::lock_guard lock(machine().mutex);
  return machine().options;
}

thread_local int current_device = 0;

cudaError_t refuse(cudaError_t code, const std::string& text) {
  standin::note_problem(text);
  return code;
}

/// Enqueued operations look again when they run: the memory may be gone by then.
[[nodiscard]] bool may_touch(const void* data, std::size_t bytes, std::string_view what) {
  if (const auto objection = standin::device_memory().objection(data, bytes)) {
    standin::note_problem(fmt::format("{} {}", what, *objection));
    return false;
  }
  return true;
}

/// The device's side of a copy; the host's side is the program's business.
[[nodiscard]] bool may_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const bool writes = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool reads = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  return (!writes || may_touch(to, bytes, "the destination of cudaMemcpyAsync")) &&
         (!reads || may_touch(from, bytes, "the source of cudaMemcpyAsync"));
}

}  // namespace

extern "C" {

void standin_configure(const StandinOptions* wanted) {
  {
    const std::lock_guard lock(machine().mutex);
    machine().options = *wanted;
  }
  standin::device_memory().fail_after(wanted->allocations_until_failure);
  standin::device_memory().allow_pageable(wanted->pageable_memory);
  standin::forget_problems();
}

const char* standin_problems() {
  thread_local std::string text;
  text = standin::all_problems();
  return text.c_str();
}

void standin_problem(const char* text) {
  standin::note_problem(text);
}

void standin_enqueue(void* stream, void (*run)(void*), void* argument) {
  static_cast<cudaStream_t>(stream)->stream.enqueue([run, argument] { run(argument); });
}

bool standin_may_touch(const void* data, std::size_t bytes, const char* what) {
  return may_touch(data, bytes, what);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = options().devices;
  return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= options().devices) {
    return refuse(cudaErrorInvalidDevice,
                  fmt::format("cudaSetDevice({}) on a machine of {}", device, options().devices));
  }
  current_device = device;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, size_t bytes) {
  *data = standin::device_memory().allocate(bytes);
  return *data != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFree(void* data) {
  if (data == nullptr) {
    return cudaSuccess;
  }
  if (const auto wrong = standin::device_memory().release(data)) {
    return refuse(cudaErrorInvalidValue, "cudaFree " + *wrong);
  }
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
  const StandinOptions now = options();
  *stream = new CUstream_st{{{now.seed, now.longest_delay_us}, machine().streams++}};
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (!stream->stream.idle()) {
    // Kept: its thread may be stuck.
    return refuse(cudaErrorNotReady, "cudaStreamDestroy of a stream that has work left");
  }
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  stream->stream.synchronize();
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return stream->stream.idle() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
  const std::uint64_t recording = event->progress->recorded();
  if (recording == 0) {
    return refuse(cudaErrorInvalidResourceHandle,
                  "cudaStreamWaitEvent on an event that was never recorded");
  }
  stream->stream.enqueue([progress = event->progress, recording] { progress->await(recording); });
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(
    void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (!may_copy(to, from, bytes, kind)) {
    return cudaErrorInvalidValue;
  }
  stream->stream.enqueue([=] {
    if (bytes > 0 && may_copy(to, from, bytes, kind)) {
      std::memmove(to, from, bytes);
    }
  });
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  if (!may_touch(to, bytes, "cudaMemsetAsync")) {
    return cudaErrorInvalidValue;
  }
  stream->stream.enqueue([=] {
    if (bytes > 0 && may_touch(to, bytes, "cudaMemsetAsync")) {
      std::memset(to, value, bytes);
    }
  });
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st;
  (*event)->timed = (flags & cudaEventDisableTiming) == 0;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;  // whoever waits for it keeps its progress
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const std::uint64_t recording = event->progress->record();
  stream->stream.enqueue([progress = event->progress, recording] { progress->reach(recording); });
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::uint64_t recording = event->progress->recorded();
  if (recording == 0) {
    return refuse(cudaErrorInvalidResourceHandle, "cudaEventQuery of an event never recorded");
  }
  return event->progress->reached(recording) ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const std::uint64_t recording = event->progress->recorded();
  if (recording == 0) {
    return refuse(cudaErrorInvalidResourceHandle, "cudaEventSynchronize before its recording");
  }
  event->progress->await(recording);
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  if (!begin->timed || !end->timed) {
    return refuse(cudaErrorInvalidResourceHandle, "cudaEventElapsedTime of an untimed event");
  }
  for (const cudaEvent_t event : {begin, end}) {
    const cudaError_t state = cudaEventQuery(event);
    if (state != cudaSuccess) {
      return state;
    }
  }
  const auto elapsed = end->progress->when() - begin->progress->when();
  *milliseconds = std::chrono::duration<float, std::milli>(elapsed).count();
  return cudaSuccess;
}

const char* cudaGetErrorName(cudaError_t code) {
  switch (code) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorInvalidResourceHandle:
      return "cudaErrorInvalidResourceHandle";
    case cudaErrorNotReady:
      return "cudaErrorNotReady";
    default:
      return "cudaErrorUnknown";
  }
}

const char* cudaGetErrorString(cudaError_t code) {
  if (code == cudaErrorMemoryAllocation) {
    return "out of memory";
  }
  return code == cudaErrorNoDevice ? "no CUDA-capable device is detected"
                                   : standin::last_problem_of_this_thread();
}
}
