// The part of HostProgress that says, for people, why nothing moves.

#include <algorithm>

#include <fmt/format.h>

#include "runtime/comm/host_progress.h"
#include "runtime/comm/host_run.h"
#include "runtime/comm/longest_chain.h"

namespace stagewright {

/// What keeps an operation from beginning.
struct HostProgress::Obstacle {
  std::string relation;                ///< between the operation and the obstacle
  std::shared_ptr<EventState> keeper;  ///< of the obstacle
  const HostOperation* operation = nullptr;
};

std::optional<HostProgress::Obstacle> HostProgress::obstacle(const HostOperation& operation) {
  const std::lock_guard lock(mutex_);
  for (const HostQueue* queue : queues_) {
    const auto& operations = queue->operations;
    const auto found =
        std::find_if(operations.begin(), operations.end(), [&operation](const auto& queued) {
          return queued.get() == &operation;
        });
    if (found == operations.end()) {
      continue;
    }
    if (found != operations.begin()) {
      return Obstacle{fmt::format("behind, on stream '{}', ", queue->label),
                      operations.front(),
                      operations.front().get()};
    }
    const auto& awaited = operation.after().state();
    const auto* awaited_operation = dynamic_cast<const HostOperation*>(awaited.get());
    if (!queue->front_has_begun && awaited_operation != nullptr) {
      return Obstacle{"which waits for ", awaited, awaited_operation};
    }
  }
  return std::nullopt;
}

std::string HostProgress::explain(const HostOperation& operation) {
  std::string text = operation.describe();
  Obstacle last{{}, nullptr, &operation};
  for (int link = 0; link < kLongestChain; ++link) {
    std::optional<Obstacle> next = last.operation->home().obstacle(*last.operation);
    if (!next) {
      break;
    }
    text += fmt::format(", {}{}", next->relation, next->operation->describe());
    last = std::move(*next);
  }
  return fmt::format("{}: {}", text, last.operation->missing());
}

std::string HostProgress::activity() {
  const std::lock_guard lock(mutex_);
  if (last_posted_ == nullptr) {
    return "has posted nothing";
  }
  return fmt::format("posted last {}, {}",
                     last_posted_->describe(),
                     last_posted_->ready() ? "complete" : "incomplete");
}

}  // namespace stagewright
