#include "runtime/comm/nccl_communicator.h"

#include "core/base/check.h"
#include "runtime/comm/nccl_rank.h"
#include "runtime/comm/nccl_stream.h"

namespace stagewright {

namespace {

void check_reducible(ElementType type) {
  SW_CHECK(type != ElementType::kByte, "bytes are moved, never reduced");
}

[[nodiscard]] Contract transfer_of(ElementType type, std::size_t count) {
  return {CommKind::kTransfer, type, count, Reduction::kSum, 0};
}

}  // namespace

Event NcclCommunicator::all_reduce(
    SendBuffer in, RecvBuffer out, Reduction reduction, Stream& stream, const Event& after) {
  check_reducible(in.type);
  SW_CHECK(in.count == out.count, "an all_reduce reads as many elements as it writes");
  return collective(
      {CommKind::kAllReduce, in.type, in.count, reduction, 0}, in, out, stream, after);
}

Event NcclCommunicator::all_gather(SendBuffer in,
                                   RecvBuffer out,
                                   Stream& stream,
                                   const Event& after) {
  SW_CHECK(out.count == in.count * members().size(), "an all_gather writes one part per member");
  return collective(
      {CommKind::kAllGather, in.type, in.count, Reduction::kSum, 0}, in, out, stream, after);
}

Event NcclCommunicator::reduce_scatter(
    SendBuffer in, RecvBuffer out, Reduction reduction, Stream& stream, const Event& after) {
  check_reducible(in.type);
  SW_CHECK(in.count == out.count * members().size(), "a reduce_scatter reads one part per member");
  return collective(
      {CommKind::kReduceScatter, in.type, out.count, reduction, 0}, in, out, stream, after);
}

Event NcclCommunicator::broadcast(RecvBuffer buffer, int root, Stream& stream, const Event& after) {
  SW_CHECK(root >= 0 && root < size(), "the root of a broadcast is a member");
  return collective({CommKind::kBroadcast, buffer.type, buffer.count, Reduction::kSum, root},
                    {buffer.data, buffer.count, buffer.type},
                    buffer,
                    stream,
                    after);
}

Event NcclCommunicator::ring_shift(SendBuffer in,
                                   RecvBuffer out,
                                   Stream& stream,
                                   const Event& after) {
  SW_CHECK(in.count == out.count, "a ring_shift reads as many elements as it writes");
  return collective(
      {CommKind::kRingShift, in.type, in.count, Reduction::kSum, 0}, in, out, stream, after);
}

Event NcclCommunicator::all_to_all(
    SendBuffer in, RecvBuffer out, const PartRows& rows, Stream& stream, const Event& after) {
  SW_CHECK(in.count == out.count && in.count % members().size() == 0,
           "an all_to_all has one part per member");
  // Whole parts: how many rows they hold only the device knows.
  return collective({CommKind::kAllToAll,
                     in.type,
                     in.count / members().size(),
                     Reduction::kSum,
                     0,
                     rows.width,
                     rows.experts},
                    in,
                    out,
                    stream,
                    after);
}

Event NcclCommunicator::barrier(Stream& stream, const Event& after) {
  return collective(
      {}, {nullptr, 0, ElementType::kByte}, {nullptr, 0, ElementType::kByte}, stream, after);
}

Event NcclCommunicator::send(
    SendBuffer buffer, int to, ChannelId channel, Stream& stream, const Event& after) {
  return post({send_part({buffer, to, channel})}, stream, after);
}

Event NcclCommunicator::recv(
    RecvBuffer buffer, int from, ChannelId channel, Stream& stream, const Event& after) {
  return post({recv_part({buffer, from, channel})}, stream, after);
}

Event NcclCommunicator::exchange(std::span<const SendPart> sends,
                                 std::span<const RecvPart> receives,
                                 Stream& stream,
                                 const Event& after) {
  std::vector<NcclPart> parts;
  parts.reserve(sends.size() + receives.size());
  for (const SendPart& send : sends) {
    parts.push_back(send_part(send));
  }
  for (const RecvPart& receive : receives) {
    parts.push_back(recv_part(receive));
  }
  return post(std::move(parts), stream, after);
}

RankId NcclCommunicator::peer(int member) const {
  SW_CHECK(member >= 0 && member < size(), "the peer of a message is a member of the group");
  return members()[static_cast<std::size_t>(member)];
}

NcclPart NcclCommunicator::send_part(const SendPart& send) {
  const auto found = links_.out.find({peer(send.to), send.channel});
  SW_CHECK(found != links_.out.end(), "the link of a send is listed in the WorldSpec");
  NcclLane& lane = *found->second;
  return {.lane = &lane,
          .sequence = lane.sent++,
          .member = 0,
          .contract = transfer_of(send.buffer.type, send.buffer.count),
          .in = send.buffer.data};
}

NcclPart NcclCommunicator::recv_part(const RecvPart& receive) {
  const auto found = links_.in.find({peer(receive.from), receive.channel});
  SW_CHECK(found != links_.in.end(), "the link of a recv is listed in the WorldSpec");
  NcclLane& lane = *found->second;
  return {.lane = &lane,
          .sequence = lane.received++,
          .member = 1,
          .contract = transfer_of(receive.buffer.type, receive.buffer.count),
          .out = receive.buffer.data};
}

Event NcclCommunicator::collective(const Contract& contract,
                                   const SendBuffer& in,
                                   const RecvBuffer& out,
                                   Stream& stream,
                                   const Event& after) {
  SW_CHECK(in.type == out.type, "an operation reads and writes one element type");
  return post({{.lane = &lane_,
                .sequence = lane_.posted++,
                .member = lane_.member,
                .contract = contract,
                .in = in.data,
                .out = out.data}},
              stream,
              after);
}

Event NcclCommunicator::post(std::vector<NcclPart> parts, Stream& stream, const Event& after) {
  auto* const own = dynamic_cast<NcclStreamHandle*>(&stream);
  SW_CHECK(own != nullptr && &own->rank() == &rank_,
           "a communicator is used with streams of its own endpoint");
  return own->post(std::move(parts), after);
}

}  // namespace stagewright
