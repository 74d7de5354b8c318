#pragma once

#include <cstddef>

/// The part of the program that needs MPI: a library of its own, loaded where mpirun has started the
/// processes, so that the program itself runs on machines without MPI.
extern "C" {

inline constexpr std::size_t kMpiTextRoom = 512;

/// What the processes that one mpirun has started know of each other.
struct StagewrightMpiMeeting {
  int rank;
  int ranks;
  int local_rank;              ///< among the processes on this host,
  int local_ranks;             ///< of which there are so many
  char text[kMpiTextRoom];     ///< in: what this process would give to all; out: what rank 0 gave
};

/// All processes call it, once.  MPI is over when it returns.  0, or an error code of MPI.
int stagewright_mpi_meet(StagewrightMpiMeeting* meeting);
}
