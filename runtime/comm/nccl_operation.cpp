#include "runtime/comm/nccl_operation.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "runtime/comm/nccl_rank.h"
#include "runtime/comm/nccl_stream.h"

namespace stagewright {

NcclOperation::NcclOperation(std::shared_ptr<NcclRank> of,
                             std::shared_ptr<NcclStream> on,
                             Event awaited,
                             std::vector<NcclPart> brought)
    : NcclEvent(std::move(of)),
      stream(std::move(on)),
      after(std::move(awaited)),
      parts(std::move(brought)),
      stream_label_(stream->label()) {}

bool NcclOperation::ready() const {
  if (state_.load() == State::kIssued) {
    rank().look_at(*this);
  }
  const State now = state_.load();
  return now == State::kDone || now == State::kFailed;
}

std::optional<Error> NcclOperation::failure() const {
  return state_.load() == State::kFailed ? error_ : std::nullopt;
}

CommTimes NcclOperation::times() const {
  SW_CHECK(ready(), "times are read after the event is ready");
  return stamps;
}

std::string NcclOperation::describe() const {
  if (parts.empty()) {
    return fmt::format("a mark on stream '{}'", stream_label_);
  }
  if (parts.size() == 1) {
    return stagewright::describe(parts.front());
  }
  std::string text;
  for (const NcclPart& part : parts) {
    text += (text.empty() ? "" : ", ") + stagewright::describe(part);
  }
  return fmt::format("exchange [{}]", text);
}

void NcclOperation::fail(Error error) {
  error_ = std::move(error);
  state_.store(State::kFailed);
}

}  // namespace stagewright
