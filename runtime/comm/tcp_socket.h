#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.h"

namespace stagewright {

using Deadline = std::chrono::steady_clock::time_point;

/// One end of a TCP connection.  No call waits beyond its deadline.
class TcpSocket {
 public:
  TcpSocket() = default;
  explicit TcpSocket(int descriptor) : descriptor_(descriptor) {}
  TcpSocket(TcpSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  TcpSocket& operator=(TcpSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~TcpSocket();

  /// Tries again until the deadline: the other side may not listen yet.  kBackendFailed then.
  [[nodiscard]] static Result<TcpSocket> connect(const std::string& host,
                                                 std::uint16_t port,
                                                 Deadline deadline);

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] Result<void> send_all(std::string_view bytes, Deadline deadline);
  /// Appends what has come, which may be nothing.  kBackendFailed when the other side has closed.
  [[nodiscard]] Result<void> receive(std::string& into);

 private:
  int descriptor_ = -1;
};

class TcpListener {
 public:
  /// On all addresses; port 0 takes a free one.  kIo, with what to do, where it is taken.
  [[nodiscard]] static Result<TcpListener> listen(std::uint16_t port);

  [[nodiscard]] int descriptor() const { return socket_.descriptor(); }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Somebody who has connected, if there is one.
  [[nodiscard]] std::optional<TcpSocket> accept();

 private:
  TcpListener(TcpSocket socket, std::uint16_t port) : socket_(std::move(socket)), port_(port) {}

  TcpSocket socket_;
  std::uint16_t port_ = 0;
};

/// A free port that the system gives to nobody else while this lives; this process and others may
/// listen on it.
class ReservedPort {
 public:
  /// kIo where the system has none.
  [[nodiscard]] static Result<ReservedPort> reserve();
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  ReservedPort(TcpSocket socket, std::uint16_t port) : socket_(std::move(socket)), port_(port) {}

  TcpSocket socket_;  ///< bound, and nobody can connect to it
  std::uint16_t port_ = 0;
};

/// Returns when `descriptor` can be read or `limit` has passed; whether it can.
[[nodiscard]] bool await_readable(int descriptor, std::chrono::milliseconds limit);

}  // namespace stagewright
