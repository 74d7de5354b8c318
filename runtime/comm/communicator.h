#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "runtime/comm/buffer.h"
#include "runtime/comm/event.h"
#include "runtime/comm/stream.h"

namespace stagewright {

/// Keeps point-to-point messages of different kinds apart (activations forward, gradients
/// backward, ring exchange ...): messages match in order within one (source, destination,
/// channel) and never across.  The numbers are the caller's.
using ChannelId = Id<struct ChannelTag>;

/// One part of an exchange.
struct SendPart {
  SendBuffer buffer;
  int to = 0;  ///< rank in the group
  ChannelId channel;
};
struct RecvPart {
  RecvBuffer buffer;
  int from = 0;  ///< rank in the group
  ChannelId channel;
};

/// How many counted rows (core/model/op.h) each part of an all-to-all holds.
struct PartRows {
  /// int32 [members, experts] in the host's memory, read when the transfer begins.
  const std::int32_t* counts = nullptr;
  std::size_t experts = 0;  ///< of a member
  std::size_t width = 0;    ///< elements of a row
};

/// One group of ranks as seen by one member.  "Rank in the group" is the index in its
/// member list.
///
/// No call blocks: each is queued on `stream`, begins after `after` has completed, and
/// returns the event of its completion, until which its buffers belong to it.  A failed
/// `after` fails it.
///
/// Collectives: every member posts the same ones in the same order (over all its streams),
/// with equal counts, types and reductions.  Disagreement is found when the last member
/// arrives and ends the run of every rank with an error that names both sides.  Counts may
/// be 0.  REQUIRES: stream belongs to the same rank; one thread posts at a time per rank.
///
/// Every call throws BackendError once the run was aborted.
class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  [[nodiscard]] virtual std::string_view label() const = 0;
  /// World ranks of the members, in group order.
  [[nodiscard]] virtual std::span<const RankId> members() const = 0;
  /// This rank's index in members().
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] int size() const { return static_cast<int>(members().size()); }

  /// out[i] = in of member 0 [i] + in of member 1 [i] + ...; equal on all members.
  /// The in-process backend sums in member order (bitwise reproducible); others document
  /// their tolerance.  `in` and `out` have equal counts and are the same memory or disjoint.
  virtual Event all_reduce(
      SendBuffer in, RecvBuffer out, Reduction reduction, Stream& stream, const Event& after) = 0;

  /// out = in of member 0, in of member 1, ...  REQUIRES: out.count == in.count * size().
  /// `in` is disjoint from `out` or this member's own part of it.
  virtual Event all_gather(SendBuffer in, RecvBuffer out, Stream& stream, const Event& after) = 0;

  /// out = this member's part of the reduction of all `in`.
  /// REQUIRES: in.count == out.count * size().  `out` is disjoint from `in` or this
  /// member's own part of it; the rest of `in` stays as it was.
  virtual Event reduce_scatter(
      SendBuffer in, RecvBuffer out, Reduction reduction, Stream& stream, const Event& after) = 0;

  /// Copies the root's buffer (which is only read) to every other member's.
  virtual Event broadcast(RecvBuffer buffer, int root, Stream& stream, const Event& after) = 0;

  /// out = in of the member before this one; of the last one, for the first.  `in` and `out` have
  /// equal counts and are disjoint.
  virtual Event ring_shift(SendBuffer in, RecvBuffer out, Stream& stream, const Event& after) = 0;

  /// Part p of `out` = part of this member of the `in` of member p.  `in` and `out` have equal
  /// counts, which the members divide, and are disjoint.  With rows.counts only so many rows of
  /// each part need to arrive; what lies behind them is nothing, here and there.
  virtual Event all_to_all(
      SendBuffer in, RecvBuffer out, const PartRows& rows, Stream& stream, const Event& after) = 0;

  /// Completes when every member has reached its barrier.
  virtual Event barrier(Stream& stream, const Event& after) = 0;

  /// Point-to-point.  A send may stay incomplete until its receive is posted.  Counts and
  /// types of both sides must be equal.  The link (this rank, peer, channel) must be among
  /// WorldSpec::links.  Sending to oneself works.
  virtual Event send(
      SendBuffer buffer, int to, ChannelId channel, Stream& stream, const Event& after) = 0;
  virtual Event recv(
      RecvBuffer buffer, int from, ChannelId channel, Stream& stream, const Event& after) = 0;

  /// All the sends and receives at once, in any order, none blocking another; complete when
  /// all are.  What mutual exchanges must use.
  virtual Event exchange(std::span<const SendPart> sends,
                         std::span<const RecvPart> receives,
                         Stream& stream,
                         const Event& after) = 0;

  /// In place.
  Event all_reduce(RecvBuffer buffer, Reduction reduction, Stream& stream, const Event& after) {
    return all_reduce(
        SendBuffer{buffer.data, buffer.count, buffer.type}, buffer, reduction, stream, after);
  }
};

}  // namespace stagewright
