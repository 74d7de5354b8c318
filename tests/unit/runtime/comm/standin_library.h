#pragma once

/// The stand-in libraries as tests steer them.

#include <string>

#include "tests/standins/standins.h"

namespace stagewright {

/// Files to load instead of the machine's.
[[nodiscard]] std::string standin_cuda_file();
[[nodiscard]] std::string standin_nccl_file();
[[nodiscard]] std::string standin_cublas_lt_file();
/// A name of no file where there is no such stand-in.
[[nodiscard]] std::string standin_cudnn_file();

void configure_standins(const StandinOptions& options);
void inject_nccl_fault(StandinFault fault, int rank, int operation);
void inject_nccl_fault_in(const std::string& call, StandinFault fault, int rank, int operation);
[[nodiscard]] std::string problems_of_standins();

/// See standins.h.  How many calls of the kind there were: mutation_calls().
void mutate_cuda(StandinMutation mutation, int device, int call);
[[nodiscard]] int mutation_calls();
void swap_nccl_calls(int rank, int call);

/// What operations touch, for the check that streams are ordered.
struct StandinAccesses {
  decltype(&standin_begin) begin;
  decltype(&standin_touch) touch;
};
[[nodiscard]] StandinAccesses standin_accesses();

}  // namespace stagewright
