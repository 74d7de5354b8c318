#include "runtime/comm/control_link.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace stagewright {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPoll = std::chrono::milliseconds(10);
/// For one message to be taken.
constexpr auto kLinkSendLimit = std::chrono::seconds(5);
/// For rank 0, whose limit is the same, to say who is missing.
constexpr auto kWelcomeLimit = std::chrono::seconds(5);

}  // namespace

Result<std::unique_ptr<ControlLink>> ControlLink::join(const LaunchEnvironment& launch,
                                                       const std::string& fingerprint,
                                                       Duration limit) {
  const std::string where = fmt::format("rank {}", launch.rank);
  const Deadline deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  Result<TcpSocket> socket = TcpSocket::connect(launch.host, launch.port, deadline);
  if (!socket) {
    return fail(socket.error().code, "rank 0 cannot be reached: " + socket.error().message, where);
  }
  std::unique_ptr<ControlLink> link(new ControlLink(*std::move(socket), launch.rank));
  if (!link->send({.kind = ControlKind::kHello, .text = launch.token, .extra = fingerprint})) {
    return fail(ErrorCode::kBackendFailed, "rank 0 closed the connection", where);
  }
  if (Result<void> welcome = link->await_welcome(deadline + kWelcomeLimit); !welcome) {
    return fail(welcome.error().code, welcome.error().message, where);
  }
  return link;
}

Result<void> ControlLink::await_welcome(Deadline deadline) {
  while (true) {
    Result<std::optional<ControlMessage>> message = take_message(received_);
    if (!message) {
      return pass_on(std::move(message));
    }
    if (message->has_value()) {
      if ((*message)->kind != ControlKind::kWelcome) {
        return fail(ErrorCode::kBackendFailed, "refused by rank 0: " + (*message)->text);
      }
      gift_ = (*message)->extra;
      return {};
    }
    if (Clock::now() >= deadline) {
      return fail(ErrorCode::kBackendFailed, "rank 0 did not say that all ranks have come in time");
    }
    (void)await_readable(socket_.descriptor(), kPoll);
    const Result<void> open = socket_.receive(received_);
    if (!open && received_.empty()) {
      return fail(ErrorCode::kBackendFailed, "rank 0 left before all ranks had come");
    }
  }
}

ControlLink::~ControlLink() {
  stopping_.store(true);
  if (thread_.joinable()) {
    thread_.join();
    (void)send({.kind = ControlKind::kGoodbye});
  }
}

void ControlLink::listen(Handlers handlers) {
  handlers_ = std::move(handlers);
  thread_ = std::thread([this] { run(); });
}

bool ControlLink::send(ControlMessage message) {
  message.rank = static_cast<std::uint32_t>(rank_);
  const std::lock_guard lock(send_mutex_);
  return socket_.send_all(encode(message), Clock::now() + kLinkSendLimit).has_value();
}

void ControlLink::run() {
  while (!stopping_.load()) {
    (void)await_readable(socket_.descriptor(), kPoll);
    const Result<void> open = socket_.receive(received_);
    while (true) {
      Result<std::optional<ControlMessage>> message = take_message(received_);
      if (!message) {
        return end_run(message.error());
      }
      if (!message->has_value()) {
        break;
      }
      handle(**message);
    }
    if (!open) {
      return end_run(
          {ErrorCode::kBackendFailed,
           fmt::format("rank {} lost its connection to rank 0: {}", rank_, open.error().message),
           {}});
    }
    handlers_.tick();
  }
}

void ControlLink::handle(const ControlMessage& message) {
  if (message.kind == ControlKind::kAsk) {
    (void)send({.kind = ControlKind::kActivity, .text = handlers_.activity()});
  } else if (message.kind == ControlKind::kAbort) {
    end_run({message.code, message.text, message.extra});
  }
}

void ControlLink::end_run(Error reason) {
  if (!std::exchange(aborted_, true)) {
    handlers_.aborted(std::move(reason));
  }
}

}  // namespace stagewright
