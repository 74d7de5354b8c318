#pragma once

/// The stand-in libraries as tests steer them.

#include <string>

#include "tests/standins/standins.h"

namespace stagewright {

/// Files to load instead of the machine's.
[[nodiscard]] std::string standin_cuda_file();
[[nodiscard]] std::string standin_nccl_file();

void configure_standins(const StandinOptions& options);
void inject_nccl_fault(StandinFault fault, int rank, int operation);
[[nodiscard]] std::string problems_of_standins();

}  // namespace stagewright
