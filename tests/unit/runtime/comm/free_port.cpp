#include "free_port.h"

#include <mutex>
#include <vector>

#include "runtime/comm/tcp_socket.h"

namespace stagewright {

std::uint16_t free_port() {
  static std::mutex mutex;
  static std::vector<ReservedPort> reserved;  // until the process ends: nobody else gets them
  const std::lock_guard lock(mutex);
  return reserved.emplace_back(ReservedPort::reserve().value()).port();
}

}  // namespace stagewright
