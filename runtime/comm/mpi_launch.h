#pragma once

#include <optional>

#include "core/base/result.h"
#include "runtime/comm/launch_environment.h"

namespace stagewright {

/// How many processes mpirun or srun has started together, by the variables that they set
/// (OMPI_COMM_WORLD_SIZE, PMI_SIZE); nothing where there are none or one.
[[nodiscard]] std::optional<int> processes_of_mpi(const Variables& variables);

/// Which of those this is, and where rank 0 waits for the others: on a port that the system gave it,
/// told to all by MPI_Bcast.  kUnsupported where this program was built without MPI or its module
/// (STAGEWRIGHT_MPI_MODULE names another file) cannot be loaded; kBackendFailed where MPI fails.
/// Once for each process.
[[nodiscard]] Result<LaunchEnvironment> meet_by_mpi();

}  // namespace stagewright
