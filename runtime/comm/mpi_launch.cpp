#include "runtime/comm/mpi_launch.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "runtime/comm/tcp_socket.h"
#include "runtime/libraries/shared_library.h"
#include "runtime/mpi/mpi_module.h"

namespace stagewright {

namespace {

[[nodiscard]] Result<SharedLibrary> load_module() {
  // Beside the program.
  std::error_code none;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none);
  return SharedLibrary::open({.title = "this program's module for MPI",
                              .file = (program.parent_path() / "libstagewright_mpi.so").string(),
                              .variable = "STAGEWRIGHT_MPI_MODULE",
                              .package = "MPI and build this program with it, start the processes "
                                         "with torchrun"});
}

[[nodiscard]] std::string host_name() {
  std::array<char, 256> name{};
  (void)::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

std::optional<int> processes_of_mpi(const Variables& variables) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const auto text = variables(name)) {
      int value = 0;
      const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
      if (error == std::errc() && end == text->data() + text->size() && value > 1) {
        return value;
      }
    }
  }
  return std::nullopt;
}

Result<LaunchEnvironment> meet_by_mpi() {
  auto module = load_module();
  if (!module) {
    return pass_on(std::move(module));
  }
  const auto entry = module->entry("stagewright_mpi_meet");
  if (!entry) {
    return tl::unexpected<Error>(entry.error());
  }
  static auto reserved = ReservedPort::reserve();  // until rank 0 listens there
  if (!reserved) {
    return tl::unexpected<Error>(reserved.error());
  }
  StagewrightMpiMeeting meeting{};
  const std::string offer =
      fmt::format("{} {} {:x}", host_name(), reserved->port(), std::random_device{}());
  offer.copy(static_cast<char*>(meeting.text), kMpiTextRoom - 1);
  const int code = reinterpret_cast<decltype(&stagewright_mpi_meet)>(*entry)(&meeting);
  std::istringstream given(static_cast<const char*>(meeting.text));
  LaunchEnvironment launch{
      .rank = meeting.rank, .ranks = meeting.ranks, .local_rank = meeting.local_rank};
  if (code != 0 || !(given >> launch.host >> launch.port >> launch.token)) {
    return fail(ErrorCode::kBackendFailed,
                fmt::format("MPI failed with code {} while the processes met", code));
  }
  if (meeting.local_ranks == meeting.ranks) {
    launch.host = "127.0.0.1";
  }
  return launch;
}

}  // namespace stagewright
