#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/comm/communicator.h"
#include "runtime/comm/nccl_lane.h"

namespace stagewright {

class NcclRank;

/// The links of a rank, by peer and channel.  Shared by all communicators of the rank, so that
/// messages match by link whichever group they were posted through.
struct NcclLinks {
  std::map<std::pair<RankId, ChannelId>, NcclLane*> out;
  std::map<std::pair<RankId, ChannelId>, NcclLane*> in;
};

/// One place as one rank uses it.  The order in which NCCL adds is its own: sums of floating-point
/// numbers differ from sums in rank order by rounding, at most (size - 1) units in the last place
/// of the sum of magnitudes.
class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(NcclRank& rank, NcclLinks& links, NcclLane& lane, std::string label)
      : rank_(rank), links_(links), lane_(lane), label_(std::move(label)) {}

  [[nodiscard]] std::string_view label() const override { return label_; }
  [[nodiscard]] std::span<const RankId> members() const override { return lane_.members; }
  [[nodiscard]] int rank() const override { return static_cast<int>(lane_.member); }

  using Communicator::all_reduce;
  Event all_reduce(SendBuffer in,
                   RecvBuffer out,
                   Reduction reduction,
                   Stream& stream,
                   const Event& after) override;
  Event all_gather(SendBuffer in, RecvBuffer out, Stream& stream, const Event& after) override;
  Event reduce_scatter(SendBuffer in,
                       RecvBuffer out,
                       Reduction reduction,
                       Stream& stream,
                       const Event& after) override;
  Event broadcast(RecvBuffer buffer, int root, Stream& stream, const Event& after) override;
  Event all_to_all(SendBuffer in,
                   RecvBuffer out,
                   const PartRows& rows,
                   Stream& stream,
                   const Event& after) override;
  Event ring_shift(SendBuffer in, RecvBuffer out, Stream& stream, const Event& after) override;
  Event barrier(Stream& stream, const Event& after) override;
  Event send(
      SendBuffer buffer, int to, ChannelId channel, Stream& stream, const Event& after) override;
  Event recv(
      RecvBuffer buffer, int from, ChannelId channel, Stream& stream, const Event& after) override;
  Event exchange(std::span<const SendPart> sends,
                 std::span<const RecvPart> receives,
                 Stream& stream,
                 const Event& after) override;

 private:
  [[nodiscard]] RankId peer(int member) const;
  [[nodiscard]] NcclPart send_part(const SendPart& send);
  [[nodiscard]] NcclPart recv_part(const RecvPart& receive);
  Event collective(const Contract& contract,
                   const SendBuffer& in,
                   const RecvBuffer& out,
                   Stream& stream,
                   const Event& after);
  Event post(std::vector<NcclPart> parts, Stream& stream, const Event& after);

  NcclRank& rank_;
  NcclLinks& links_;
  NcclLane& lane_;
  std::string label_;
};

}  // namespace stagewright
