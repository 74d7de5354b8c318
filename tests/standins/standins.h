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

// Between the stand-ins.
void standin_enqueue(void* stream, void (*run)(void*), void* argument);
/// False, with the problem noted, where a stream may not touch these bytes.
bool standin_may_touch(const void* data, std::size_t bytes, const char* what);
void standin_problem(const char* text);
}
