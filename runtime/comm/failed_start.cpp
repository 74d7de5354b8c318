#include "runtime/comm/failed_start.h"

#include <chrono>

#include <fmt/format.h>

#include "runtime/comm/control_hub.h"

namespace stagewright {

void tell_failed_start(const LaunchEnvironment& launch, const Error& error, Duration limit) {
  const std::string why = fmt::format("rank {} cannot begin: {}", launch.rank, error.to_string());
  if (launch.rank == 0) {
    WorldSpec world;
    world.ranks = launch.ranks;
    // Its end waits until all have been told.
    (void)ControlHub::start({.world = std::move(world),
                             .token = launch.token,
                             .gift = {},
                             .join_limit = limit,
                             .goodbye_limit = limit,
                             .no_start = why},
                            launch.port);
    return;
  }
  const Deadline deadline = std::chrono::steady_clock::now() +
                            std::chrono::duration_cast<std::chrono::steady_clock::duration>(limit);
  auto socket = TcpSocket::connect(launch.host, launch.port, deadline);
  if (!socket) {
    return;
  }
  const ControlMessage message{.kind = ControlKind::kNoStart,
                               .rank = static_cast<std::uint32_t>(launch.rank),
                               .text = why,
                               .extra = launch.token};
  std::string answer;
  // Rank 0 closes the connection when it has read this.
  bool open = socket->send_all(encode(message), deadline).has_value();
  while (open && std::chrono::steady_clock::now() < deadline) {
    (void)await_readable(socket->descriptor(), std::chrono::milliseconds(100));
    open = socket->receive(answer).has_value();
  }
}

}  // namespace stagewright
