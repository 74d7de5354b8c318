#include "runtime/mpi/mpi_module.h"

#include <mpi.h>

namespace {

[[nodiscard]] int find_places(StagewrightMpiMeeting& meeting) {
  MPI_Comm host = MPI_COMM_NULL;
  int code = MPI_Comm_rank(MPI_COMM_WORLD, &meeting.rank);
  if (code == MPI_SUCCESS) {
    code = MPI_Comm_size(MPI_COMM_WORLD, &meeting.ranks);
  }
  if (code == MPI_SUCCESS) {
    code = MPI_Comm_split_type(
        MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, meeting.rank, MPI_INFO_NULL, &host);
  }
  if (code == MPI_SUCCESS) {
    code = MPI_Comm_rank(host, &meeting.local_rank);
  }
  if (code == MPI_SUCCESS) {
    code = MPI_Comm_size(host, &meeting.local_ranks);
  }
  if (host != MPI_COMM_NULL) {
    (void)MPI_Comm_free(&host);
  }
  return code;
}

}  // namespace

extern "C" int stagewright_mpi_meet(StagewrightMpiMeeting* meeting) {
  int code = MPI_Init(nullptr, nullptr);
  if (code != MPI_SUCCESS) {
    return code;
  }
  (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  code = find_places(*meeting);
  if (code == MPI_SUCCESS) {
    code = MPI_Bcast(
        static_cast<char*>(meeting->text), kMpiTextRoom, MPI_CHAR, 0, MPI_COMM_WORLD);
  }
  const int ended = MPI_Finalize();
  return code != MPI_SUCCESS ? code : ended;
}
