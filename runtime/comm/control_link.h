#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/result.h"
#include "core/base/units.h"
#include "runtime/comm/control_message.h"
#include "runtime/comm/launch_environment.h"
#include "runtime/comm/tcp_socket.h"

namespace stagewright {

/// A rank's connection to the ControlHub of rank 0.
class ControlLink {
 public:
  /// Called by the link's thread.
  struct Handlers {
    std::function<void(Error reason)> aborted;  ///< the run has ended, for this reason; once
    std::function<std::string()> activity;      ///< what the rank is doing, for people
    std::function<void()> tick;                 ///< every 10 ms or so
  };

  /// Returns when all ranks have come.  kBackendFailed, saying who is missing or what differs,
  /// otherwise, and when `limit` has passed.
  [[nodiscard]] static Result<std::unique_ptr<ControlLink>> join(const LaunchEnvironment& launch,
                                                                 const std::string& fingerprint,
                                                                 Duration limit);
  ControlLink(const ControlLink&) = delete;
  ControlLink& operator=(const ControlLink&) = delete;
  /// Says goodbye.
  ~ControlLink();

  /// What rank 0 gave to all.
  [[nodiscard]] const std::string& gift() const { return gift_; }
  /// Once.
  void listen(Handlers handlers);
  /// Any thread.  False where the connection is lost, which also ends the run.
  bool send(ControlMessage message);

 private:
  ControlLink(TcpSocket socket, int rank) : socket_(std::move(socket)), rank_(rank) {}

  [[nodiscard]] Result<void> await_welcome(Deadline deadline);
  void run();
  void handle(const ControlMessage& message);
  void end_run(Error reason);

  TcpSocket socket_;
  int rank_;
  std::string received_;
  std::string gift_;
  Handlers handlers_;
  bool aborted_ = false;
  std::mutex send_mutex_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace stagewright
