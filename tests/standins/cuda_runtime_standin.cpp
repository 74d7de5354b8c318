// A stand-in for the CUDA runtime library on a machine without a GPU: device memory is host memory,
// a stream is a thread that takes one operation after the other.  Stricter than the real one: what
// there would be a race, an access out of bounds or a silent nothing is a problem here, with words.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "device_code.h"
#include "device_memory.h"
#include "device_stream.h"
#include "graph_capture.h"
#include "happens_before.h"
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

/// The call that does not happen as it was made.
struct Mutation {
  std::mutex mutex;
  StandinMutation kind = kStandinNoMutation;
  int device = 0;
  int call = 0;
  int calls = 0;
  std::function<void()> held;  ///< a launch that waits for the next
};

[[nodiscard]] Mutation& mutation() {
  static auto* const made = new Mutation;
  return *made;
}

/// Whether this call is the one.
[[nodiscard]] bool is_mutated(StandinMutation kind, cudaStream_t stream) {
  const std::lock_guard lock(mutation().mutex);
  return mutation().kind == kind && mutation().device == stream->device &&
         mutation().calls++ == mutation().call;
}

/// What the host has seen of a stream or event, its streams know from now on.
void host_saw(cudaEvent_t event) {
  standin::happens_before().seen(event->progress->device(), event->progress->known());
}
void host_saw(cudaStream_t stream) {
  standin::happens_before().seen(stream->device,
                                 standin::happens_before().clock_of(stream->number));
}

/// Puts a launch on its stream, behind the next one where that is wanted.
void launch(cudaStream_t stream, std::function<void()> operation) {
  const bool hold = is_mutated(kStandinSwapLaunches, stream);
  std::function<void()> held;
  {
    const std::lock_guard lock(mutation().mutex);
    if (hold) {
      mutation().held = std::move(operation);
      return;
    }
    if (mutation().device == stream->device) {
      held = std::exchange(mutation().held, nullptr);
    }
  }
  standin::put(stream, std::move(operation));
  if (held) {
    standin::put(stream, std::move(held));
  }
}

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

void touch(
    cudaStream_t stream, const void* data, std::size_t bytes, bool writes, const char* what) {
  standin::note(stream, [data, bytes, writes, what = std::string(what)](cudaStream_t on) {
    if (const auto wrong = standin::happens_before().touch(on->number, data, bytes, writes, what)) {
      standin::note_problem(*wrong);
    }
  });
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
  standin::happens_before().forget_all();
  standin_mutate(kStandinNoMutation, 0, 0);
}

void standin_mutate(StandinMutation kind, int device, int call) {
  const std::lock_guard lock(mutation().mutex);
  mutation().kind = kind;
  mutation().device = device;
  mutation().call = call;
  mutation().calls = 0;
  mutation().held = nullptr;
}

int standin_mutation_calls() {
  const std::lock_guard lock(mutation().mutex);
  return mutation().calls;
}

void standin_begin(void* stream) {
  standin::note(static_cast<cudaStream_t>(stream),
                [](cudaStream_t on) { standin::happens_before().enqueue(on->number, on->device); });
}

void standin_touch(
    void* stream, const void* data, std::size_t bytes, bool writes, const char* what) {
  touch(static_cast<cudaStream_t>(stream), data, bytes, writes, what);
}

const char* standin_problems() {
  thread_local std::string text;
  text = standin::all_problems();
  return text.c_str();
}

void standin_problem(const char* text) {
  standin::note_problem(text);
}

void standin_enqueue(void* stream, void (*run)(void*), void* argument, void (*release)(void*)) {
  standin::put(static_cast<cudaStream_t>(stream),
               [run, kept = std::shared_ptr<void>(argument, release)] { run(kept.get()); });
}

bool standin_may_touch(const void* data, std::size_t bytes, const char* what) {
  return may_touch(data, bytes, what);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device < 0 || device >= options().devices) {
    return refuse(cudaErrorInvalidDevice, fmt::format("cudaGetDeviceProperties({})", device));
  }
  *properties = {};
  fmt::format_to_n(properties->name, sizeof(properties->name) - 1, "Stand-in {}", device);
  properties->major = 9;
  properties->multiProcessorCount = 1;
  properties->totalGlobalMem = std::size_t{1} << 30;
  properties->pciBusID = device + 1;
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
  if (standin::spoils_capture("cudaMalloc")) {
    return cudaErrorStreamCaptureUnsupported;
  }
  *data = standin::device_memory().allocate(bytes);
  return *data != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFree(void* data) {
  if (standin::spoils_capture("cudaFree")) {
    return cudaErrorStreamCaptureUnsupported;
  }
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
  const std::uint64_t number = machine().streams++;
  *stream =
      new CUstream_st{{{now.seed, now.longest_delay_us}, number}, number, current_device, nullptr};
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
  if (standin::spoils_capture("cudaStreamSynchronize", stream)) {
    return cudaErrorStreamCaptureUnsupported;
  }
  stream->stream.synchronize();
  host_saw(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (standin::spoils_capture("cudaStreamQuery", stream)) {
    return cudaErrorStreamCaptureUnsupported;
  }
  if (!stream->stream.idle()) {
    return cudaErrorNotReady;
  }
  host_saw(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
  if (standin::spoils_capture("cudaStreamWaitEvent for an event outside", stream)) {
    return cudaErrorStreamCaptureIsolation;
  }
  if (is_mutated(kStandinDropWait, stream)) {
    return cudaSuccess;
  }
  const std::uint64_t recording = event->progress->recorded();
  if (recording == 0) {
    return refuse(cudaErrorInvalidResourceHandle,
                  "cudaStreamWaitEvent on an event that was never recorded");
  }
  standin::happens_before().wait(stream->number, event->progress->known());
  stream->stream.enqueue([progress = event->progress, recording] { progress->await(recording); });
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(
    void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (kind != cudaMemcpyDeviceToDevice &&
      standin::spoils_capture("a copy of the host's memory", stream)) {
    return cudaErrorStreamCaptureUnsupported;
  }
  if (!may_copy(to, from, bytes, kind)) {
    return cudaErrorInvalidValue;
  }
  standin_begin(stream);
  if (kind != cudaMemcpyHostToDevice) {
    touch(stream, from, bytes, false, "cudaMemcpyAsync");
  }
  if (kind != cudaMemcpyDeviceToHost) {
    touch(stream, to, bytes, true, "cudaMemcpyAsync");
  }
  standin::put(stream, [=] {
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
  standin_begin(stream);
  touch(stream, to, bytes, true, "cudaMemsetAsync");
  standin::put(stream, [=] {
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
  if (standin::spoils_capture("cudaEventRecord", stream)) {
    return cudaErrorStreamCaptureUnsupported;
  }
  if (is_mutated(kStandinDropRecord, stream)) {
    return cudaSuccess;
  }
  standin_begin(stream);
  const std::uint64_t recording =
      event->progress->record(standin::happens_before().clock_of(stream->number), stream->device);
  stream->stream.enqueue([progress = event->progress, recording] { progress->reach(recording); });
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (standin::spoils_capture("cudaEventQuery")) {
    return cudaErrorStreamCaptureUnsupported;
  }
  const std::uint64_t recording = event->progress->recorded();
  if (recording == 0) {
    return refuse(cudaErrorInvalidResourceHandle, "cudaEventQuery of an event never recorded");
  }
  if (!event->progress->reached(recording)) {
    return cudaErrorNotReady;
  }
  host_saw(event);
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (standin::spoils_capture("cudaEventSynchronize")) {
    return cudaErrorStreamCaptureUnsupported;
  }
  const std::uint64_t recording = event->progress->recorded();
  if (recording == 0) {
    return refuse(cudaErrorInvalidResourceHandle, "cudaEventSynchronize before its recording");
  }
  event->progress->await(recording);
  host_saw(event);
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

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library,
                                const void* code,
                                cudaJitOption* /*jit*/,
                                void** /*jit_values*/,
                                unsigned /*jit_count*/,
                                cudaLibraryOption* /*options*/,
                                void** /*option_values*/,
                                unsigned /*option_count*/) {
  if (code == nullptr) {
    return refuse(cudaErrorInvalidValue, "cudaLibraryLoadData of no code");
  }
  *library = reinterpret_cast<cudaLibrary_t>(new int(0));
  return cudaSuccess;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  delete reinterpret_cast<int*>(library);
  return cudaSuccess;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel,
                                 cudaLibrary_t /*library*/,
                                 const char* name) {
  const standin::DeviceEntry* const entry = standin::find_entry(name);
  if (entry == nullptr) {
    return refuse(cudaErrorSymbolNotFound, fmt::format("no kernel has the name '{}'", name));
  }
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<standin::DeviceEntry*>(entry));
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* kernel,
                             dim3 blocks,
                             dim3 threads,
                             void** arguments,
                             size_t shared_bytes,
                             cudaStream_t stream) {
  namespace kernels = stagewright::kernels;
  const auto& entry = *static_cast<const standin::DeviceEntry*>(kernel);
  const auto count = *static_cast<const kernels::Index*>(arguments[0]);
  const auto columns = *static_cast<const kernels::Index*>(arguments[1]);
  const kernels::DeviceGrid grid{blocks.x, threads.x, threads.y, shared_bytes};
  if (count <= 0 || columns <= 0 || blocks.y * blocks.z * threads.z != 1 ||
      !(grid == kernels::grid_of(entry.form, count, columns))) {
    return refuse(cudaErrorInvalidValue,
                  fmt::format("the launch of '{}' has {} blocks of {} x {} threads for {} x {}",
                              entry.name,
                              blocks.x,
                              threads.x,
                              threads.y,
                              count,
                              columns));
  }
  standin_begin(stream);
  launch(stream, entry.bind(arguments));
  return cudaSuccess;
}
}
