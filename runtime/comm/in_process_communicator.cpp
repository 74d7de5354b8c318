#include "runtime/comm/in_process_communicator.h"

#include <utility>

#include "core/base/check.h"
#include "runtime/comm/host_stream.h"

namespace stagewright {

namespace {

constexpr std::size_t kSenderMember = 0;
constexpr std::size_t kReceiverMember = 1;

[[nodiscard]] MemberBuffers buffers_of(const SendBuffer& in, const RecvBuffer& out) {
  SW_CHECK(in.type == out.type, "an operation reads and writes one element type");
  return {static_cast<const std::byte*>(in.data), static_cast<std::byte*>(out.data)};
}

void check_reducible(ElementType type) {
  SW_CHECK(type != ElementType::kByte, "bytes are moved, never reduced");
}

}  // namespace

void LinkTable::add_sender(RankId destination, ChannelId channel, MeetingPlace& place) {
  ends_[{kSenderMember, destination, channel}] = End{&place, kSenderMember, 0};
}

void LinkTable::add_receiver(RankId source, ChannelId channel, MeetingPlace& place) {
  ends_[{kReceiverMember, source, channel}] = End{&place, kReceiverMember, 0};
}

LinkTable::End& LinkTable::sender(RankId destination, ChannelId channel) {
  const auto found = ends_.find({kSenderMember, destination, channel});
  SW_CHECK(found != ends_.end(), "the link of a send is listed in the WorldSpec");
  return found->second;
}

LinkTable::End& LinkTable::receiver(RankId source, ChannelId channel) {
  const auto found = ends_.find({kReceiverMember, source, channel});
  SW_CHECK(found != ends_.end(), "the link of a recv is listed in the WorldSpec");
  return found->second;
}

Event InProcessCommunicator::all_reduce(
    SendBuffer in, RecvBuffer out, Reduction reduction, Stream& stream, const Event& after) {
  check_reducible(in.type);
  SW_CHECK(in.count == out.count, "an all_reduce reads as many elements as it writes");
  return collective(
      {CommKind::kAllReduce, in.type, in.count, reduction, 0}, buffers_of(in, out), stream, after);
}

Event InProcessCommunicator::all_gather(SendBuffer in,
                                        RecvBuffer out,
                                        Stream& stream,
                                        const Event& after) {
  SW_CHECK(out.count == in.count * members().size(), "an all_gather writes one part per member");
  return collective({CommKind::kAllGather, in.type, in.count, Reduction::kSum, 0},
                    buffers_of(in, out),
                    stream,
                    after);
}

Event InProcessCommunicator::reduce_scatter(
    SendBuffer in, RecvBuffer out, Reduction reduction, Stream& stream, const Event& after) {
  check_reducible(in.type);
  SW_CHECK(in.count == out.count * members().size(), "a reduce_scatter reads one part per member");
  return collective({CommKind::kReduceScatter, in.type, out.count, reduction, 0},
                    buffers_of(in, out),
                    stream,
                    after);
}

Event InProcessCommunicator::broadcast(RecvBuffer buffer,
                                       int root,
                                       Stream& stream,
                                       const Event& after) {
  SW_CHECK(root >= 0 && root < size(), "the root of a broadcast is a member");
  auto* const data = static_cast<std::byte*>(buffer.data);
  return collective({CommKind::kBroadcast, buffer.type, buffer.count, Reduction::kSum, root},
                    {data, data},
                    stream,
                    after);
}

Event InProcessCommunicator::ring_shift(SendBuffer in,
                                        RecvBuffer out,
                                        Stream& stream,
                                        const Event& after) {
  SW_CHECK(in.count == out.count, "a ring_shift reads as many elements as it writes");
  return collective({CommKind::kRingShift, in.type, in.count, Reduction::kSum, 0},
                    buffers_of(in, out),
                    stream,
                    after);
}

Event InProcessCommunicator::all_to_all(
    SendBuffer in, RecvBuffer out, const PartRows& rows, Stream& stream, const Event& after) {
  SW_CHECK(in.count == out.count && in.count % members().size() == 0,
           "an all_to_all has one part per member");
  MemberBuffers buffers = buffers_of(in, out);
  buffers.counts = rows.counts;
  return collective({CommKind::kAllToAll,
                     in.type,
                     in.count / members().size(),
                     Reduction::kSum,
                     0,
                     rows.width,
                     rows.experts},
                    buffers,
                    stream,
                    after);
}

Event InProcessCommunicator::barrier(Stream& stream, const Event& after) {
  return collective({}, {}, stream, after);
}

Event InProcessCommunicator::send(
    SendBuffer buffer, int to, ChannelId channel, Stream& stream, const Event& after) {
  return post({send_part({buffer, to, channel})}, stream, after);
}

Event InProcessCommunicator::recv(
    RecvBuffer buffer, int from, ChannelId channel, Stream& stream, const Event& after) {
  return post({recv_part({buffer, from, channel})}, stream, after);
}

Event InProcessCommunicator::exchange(std::span<const SendPart> sends,
                                      std::span<const RecvPart> receives,
                                      Stream& stream,
                                      const Event& after) {
  std::vector<MeetingPart> parts;
  parts.reserve(sends.size() + receives.size());
  for (const SendPart& send : sends) {
    parts.push_back(send_part(send));
  }
  for (const RecvPart& receive : receives) {
    parts.push_back(recv_part(receive));
  }
  return post(std::move(parts), stream, after);
}

RankId InProcessCommunicator::peer(int member) const {
  SW_CHECK(member >= 0 && member < size(), "the peer of a message is a member of the group");
  return members()[static_cast<std::size_t>(member)];
}

MeetingPart InProcessCommunicator::send_part(const SendPart& send) {
  LinkTable::End& end = links_.sender(peer(send.to), send.channel);
  return {end.place,
          end.next++,
          end.member,
          {CommKind::kTransfer, send.buffer.type, send.buffer.count, Reduction::kSum, 0},
          {static_cast<const std::byte*>(send.buffer.data), nullptr}};
}

MeetingPart InProcessCommunicator::recv_part(const RecvPart& receive) {
  LinkTable::End& end = links_.receiver(peer(receive.from), receive.channel);
  return {end.place,
          end.next++,
          end.member,
          {CommKind::kTransfer, receive.buffer.type, receive.buffer.count, Reduction::kSum, 0},
          {nullptr, static_cast<std::byte*>(receive.buffer.data)}};
}

Event InProcessCommunicator::collective(const Contract& contract,
                                        MemberBuffers buffers,
                                        Stream& stream,
                                        const Event& after) {
  return post({{&place_, next_++, member_, contract, buffers}}, stream, after);
}

Event InProcessCommunicator::post(std::vector<MeetingPart> parts,
                                  Stream& stream,
                                  const Event& after) {
  auto* host_stream = dynamic_cast<HostStream*>(&stream);
  SW_CHECK(host_stream != nullptr && &host_stream->progress() == &progress_,
           "a communicator is used with streams of its own endpoint");
  return host_stream->post(std::make_shared<MeetingOperation>(progress_, after, std::move(parts)));
}

}  // namespace stagewright
