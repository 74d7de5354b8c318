#include "cli/interrupt.h"

#include <csignal>

namespace stagewright {
namespace {

// A signal handler can reach nothing but a global.
std::atomic<bool> interrupt_requested{
    false};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int number) {
  if (interrupt_requested.exchange(true)) {
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
}

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupt_requested = false;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& InterruptGuard::requested() {
  return interrupt_requested;
}

}  // namespace stagewright
