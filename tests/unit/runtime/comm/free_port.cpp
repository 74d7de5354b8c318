#include "free_port.h"

#include <unistd.h>

#include <atomic>

#include "runtime/comm/tcp_socket.h"

namespace stagewright {

std::uint16_t free_port() {
  constexpr int kFirst = 10000;
  constexpr int kCount = 20000;
  static std::atomic<int> next = ::getpid() * 37;
  while (true) {
    const auto port = static_cast<std::uint16_t>(kFirst + next++ % kCount);
    if (TcpListener::listen(port)) {
      return port;
    }
  }
}

}  // namespace stagewright
