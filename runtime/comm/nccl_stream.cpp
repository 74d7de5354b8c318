#include "runtime/comm/nccl_stream.h"

#include <utility>

#include <fmt/format.h>

#include "runtime/comm/nccl_operation.h"
#include "runtime/comm/nccl_rank.h"

namespace stagewright {

NcclStreamHandle::NcclStreamHandle(std::shared_ptr<NcclRank> rank, std::string label)
    : rank_(std::move(rank)), stream_(rank_->add_stream(std::move(label))) {}

NcclStreamHandle::~NcclStreamHandle() {
  if (const auto left = rank_->first_unfinished(*stream_)) {
    rank_->abort(Error{ErrorCode::kBackendFailed,
                       fmt::format("rank {} gave up its stream '{}' before {} was done",
                                   rank_->id().value(),
                                   stream_->label(),
                                   left->describe()),
                       {}});
  }
  rank_->remove_stream(*stream_);
}

bool NcclStreamHandle::begin_after(const Event& event) {
  return rank_->begin_after(*stream_, event);
}

Event NcclStreamHandle::post(std::vector<NcclPart> parts, const Event& after) {
  auto operation = std::make_shared<NcclOperation>(rank_, stream_, after, std::move(parts));
  rank_->post(operation);
  return Event(std::move(operation));
}

}  // namespace stagewright
