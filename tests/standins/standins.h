#pragma once

/// What tests ask of the stand-in libraries beside the calls of the libraries themselves.  Looked
/// up by name in the loaded library: nothing links them.

#include <cstddef>

extern "C" {

struct StandinOptions {
  int devices = 8;
  unsigned seed = 1;
  /// Longest random delay before an operation of a stream; 0: none.
  int longest_delay_us = 0;
  /// Streams may read and write memory that no device call allocated, as on machines whose GPU
  /// reads pageable memory.
  bool pageable_memory = false;
  /// This many allocations succeed, the next one fails; negative: all succeed.
  int allocations_until_failure = -1;
};

/// Begins anew: forgets the problems so far.  REQUIRES: no stream has work.
void standin_configure(const StandinOptions* options);
/// What a program did that a device would not forgive, one line each; "" if nothing.
const char* standin_problems();

enum StandinFault {
  kStandinNoFault,
  kStandinAsyncError,  ///< the operation fails in the background and never ends
  kStandinHang,        ///< the operation never ends
};
/// Of libnccl: operation number `operation` (from 0) that `rank` of a communicator starts from now
/// on has this fault.
void standin_nccl_fault(StandinFault fault, int rank, int operation);

/// The same, counting only calls of this name: "ncclAllGather"; also of those that make a
/// communicator, "ncclCommInitRank" and "ncclCommSplit", which return an error.
void standin_nccl_fault_in(const char* name, StandinFault fault, int rank, int operation);

/// One call of a device that does not happen as it was made.
enum StandinMutation {
  kStandinNoMutation,
  kStandinDropWait,      ///< a cudaStreamWaitEvent does nothing
  kStandinDropRecord,    ///< a cudaEventRecord does nothing
  kStandinSwapLaunches,  ///< a cudaLaunchKernel changes places with the device's next
};
/// Call number `call` (from 0) of its kind on the streams of `device`, counted from now on.
void standin_mutate(StandinMutation mutation, int device, int call);
/// How many calls of the kind there have been since.
int standin_mutation_calls();
/// Of libnccl: the batch of calls number `call` that `rank` of any communicator gives a stream from
/// now on changes places with the rank's next.
void standin_nccl_swap(int rank, int call);

// Between the stand-ins, and for tests that know what an operation touches.
/// What is touched from now on belongs to the next operation of the stream.
void standin_begin(void* stream);
/// The stream's operation reads or writes bytes: a problem where another that does so, too, is
/// neither certain to be over nor certain to come later.
void standin_touch(
    void* stream, const void* data, std::size_t bytes, bool writes, const char* what);
/// `argument` is the stream's until it is released; a graph runs it as often as it is launched.
void standin_enqueue(void* stream, void (*run)(void*), void* argument, void (*release)(void*));
/// False, with the problem noted, where a stream may not touch these bytes.
bool standin_may_touch(const void* data, std::size_t bytes, const char* what);
void standin_problem(const char* text);
}
