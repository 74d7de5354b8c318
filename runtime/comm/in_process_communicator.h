#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/comm/communicator.h"
#include "runtime/comm/host_progress.h"
#include "runtime/comm/meeting_operation.h"
#include "runtime/comm/meeting_place.h"

namespace stagewright {

/// Where one rank's messages go and come from.  Shared by all communicators of the rank, so
/// that messages match by link whichever group they were posted through.
class LinkTable {
 public:
  /// One end of a link: the place, which member of it, and how many messages so far.
  struct End {
    MeetingPlace* place = nullptr;
    std::size_t member = 0;
    std::uint64_t next = 0;
  };

  void add_sender(RankId destination, ChannelId channel, MeetingPlace& place);
  void add_receiver(RankId source, ChannelId channel, MeetingPlace& place);
  /// REQUIRES: the link is in the WorldSpec.
  [[nodiscard]] End& sender(RankId destination, ChannelId channel);
  [[nodiscard]] End& receiver(RankId source, ChannelId channel);

 private:
  std::map<std::tuple<std::size_t, RankId, ChannelId>, End> ends_;  // by member, peer, channel
};

/// Members are threads.  Buffers are read and written where they are, reductions are made in
/// member order, elements are spread over the members' threads.
class InProcessCommunicator final : public Communicator {
 public:
  InProcessCommunicator(HostProgress& progress,
                        LinkTable& links,
                        MeetingPlace& place,
                        std::size_t member,
                        std::string label)
      : progress_(progress),
        links_(links),
        place_(place),
        member_(member),
        label_(std::move(label)) {}

  [[nodiscard]] std::string_view label() const override { return label_; }
  [[nodiscard]] std::span<const RankId> members() const override { return place_.members(); }
  [[nodiscard]] int rank() const override { return static_cast<int>(member_); }

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
  [[nodiscard]] MeetingPart send_part(const SendPart& send);
  [[nodiscard]] MeetingPart recv_part(const RecvPart& receive);
  Event collective(const Contract& contract,
                   MemberBuffers buffers,
                   Stream& stream,
                   const Event& after);
  Event post(std::vector<MeetingPart> parts, Stream& stream, const Event& after);

  HostProgress& progress_;
  LinkTable& links_;
  MeetingPlace& place_;
  std::size_t member_;
  std::string label_;
  std::uint64_t next_ = 0;  // number of this member's next collective
};

}  // namespace stagewright
