#include "runtime/comm/tcp_socket.h"

#include <netdb.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace stagewright {

namespace {

using Clock = std::chrono::steady_clock;

/// Between two attempts to reach somebody who does not listen yet.
constexpr auto kRetry = std::chrono::milliseconds(20);

[[nodiscard]] std::string reason() {
  return std::strerror(errno);
}

[[nodiscard]] int milliseconds_until(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<long>(left, 0, 1000));
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

[[nodiscard]] Result<Addresses> resolve(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int status = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (status != 0) {
    return fail(ErrorCode::kBackendFailed,
                fmt::format("'{}' is no address of a host: {}", host, gai_strerror(status)));
  }
  return Addresses(list);
}

/// The reason why not, or the descriptor.
[[nodiscard]] Result<TcpSocket> connect_once(const addrinfo& address, Deadline deadline) {
  TcpSocket made(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (made.descriptor() < 0) {
    return fail(ErrorCode::kBackendFailed, reason());
  }
  if (::connect(made.descriptor(), address.ai_addr, address.ai_addrlen) != 0 &&
      errno != EINPROGRESS) {
    return fail(ErrorCode::kBackendFailed, reason());
  }
  pollfd writable{made.descriptor(), POLLOUT, 0};
  int error = ETIMEDOUT;
  socklen_t size = sizeof error;
  if (::poll(&writable, 1, milliseconds_until(deadline)) > 0) {
    (void)::getsockopt(made.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error != 0) {
    return fail(ErrorCode::kBackendFailed, std::strerror(error));
  }
  const int yes = 1;
  (void)::setsockopt(made.descriptor(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return made;
}

}  // namespace

TcpSocket::~TcpSocket() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

Result<TcpSocket> TcpSocket::connect(const std::string& host,
                                     std::uint16_t port,
                                     Deadline deadline) {
  Result<Addresses> addresses = resolve(host, port);
  if (!addresses) {
    return pass_on(std::move(addresses));
  }
  std::string last;
  do {
    for (const addrinfo* address = addresses->get(); address != nullptr;
         address = address->ai_next) {
      Result<TcpSocket> made = connect_once(*address, deadline);
      if (made) {
        return made;
      }
      last = made.error().message;
    }
    std::this_thread::sleep_for(kRetry);
  } while (Clock::now() < deadline);
  return fail(ErrorCode::kBackendFailed,
              fmt::format("nobody answers at {}:{} ({})", host, port, last));
}

Result<void> TcpSocket::send_all(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent =
        ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EINTR) {
      if (Clock::now() >= deadline) {
        return fail(ErrorCode::kBackendFailed, "the other side takes no messages");
      }
      pollfd writable{descriptor_, POLLOUT, 0};
      (void)::poll(&writable, 1, milliseconds_until(deadline));
    } else {
      return fail(ErrorCode::kBackendFailed, reason());
    }
  }
  return {};
}

Result<void> TcpSocket::receive(std::string& into) {
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t got = ::recv(descriptor_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) {
      into.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      return fail(ErrorCode::kBackendFailed, "the connection was closed");
    } else if (errno == EAGAIN) {
      return {};
    } else if (errno != EINTR) {
      return fail(ErrorCode::kBackendFailed, reason());
    }
  }
}

namespace {

struct BoundSocket {
  TcpSocket socket;
  std::uint16_t port = 0;
};

/// On all addresses; nothing, with errno, where it cannot be.
[[nodiscard]] std::optional<BoundSocket> bind_to(std::uint16_t port) {
  TcpSocket made(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  const int no = 0;
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_port = htons(port);
  socklen_t size = sizeof any;
  if (made.descriptor() >= 0) {
    (void)::setsockopt(made.descriptor(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    (void)::setsockopt(made.descriptor(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  }
  auto* const address = reinterpret_cast<sockaddr*>(&any);
  if (made.descriptor() < 0 || ::bind(made.descriptor(), address, size) != 0 ||
      ::getsockname(made.descriptor(), address, &size) != 0) {
    return std::nullopt;
  }
  return BoundSocket{std::move(made), ntohs(any.sin6_port)};
}

}  // namespace

Result<TcpListener> TcpListener::listen(std::uint16_t port) {
  std::optional<BoundSocket> bound = bind_to(port);
  if (!bound || ::listen(bound->socket.descriptor(), SOMAXCONN) != 0) {
    return fail(
        ErrorCode::kIo,
        fmt::format("cannot listen for the other ranks on port {}: {}; set MASTER_PORT to a "
                    "free one on all ranks",
                    port,
                    reason()));
  }
  return TcpListener(std::move(bound->socket), bound->port);
}

Result<ReservedPort> ReservedPort::reserve() {
  std::optional<BoundSocket> bound = bind_to(0);
  if (!bound) {
    return fail(ErrorCode::kIo, "no free port: " + reason());
  }
  return ReservedPort(std::move(bound->socket), bound->port);
}

std::optional<TcpSocket> TcpListener::accept() {
  const int descriptor =
      ::accept4(socket_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor < 0) {
    return std::nullopt;
  }
  const int yes = 1;
  (void)::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return TcpSocket(descriptor);
}

bool await_readable(int descriptor, std::chrono::milliseconds limit) {
  pollfd readable{descriptor, POLLIN, 0};
  return ::poll(&readable, 1, static_cast<int>(limit.count())) > 0;
}

}  // namespace stagewright
