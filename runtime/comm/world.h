#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "runtime/comm/communicator.h"
#include "runtime/comm/run_clock.h"
#include "runtime/comm/stream.h"

namespace stagewright {

/// Ranks that take part in collectives together.  Rank in the group = index here.
struct CommGroup {
  std::string label;  ///< names the group in errors and traces: "tensor 0"
  std::vector<RankId> members;
  friend bool operator==(const CommGroup&, const CommGroup&) = default;
};

/// A direction in which messages will flow.
struct CommLink {
  RankId source;
  RankId destination;
  ChannelId channel;
  friend bool operator==(const CommLink&, const CommLink&) = default;
};

/// Everything that a run will communicate over, known before it starts, so that backends can
/// set all of it up in this one order on all ranks.
struct WorldSpec {
  int ranks = 1;
  std::vector<CommGroup> groups;  ///< indexed by GroupId
  std::vector<CommLink> links;
  friend bool operator==(const WorldSpec&, const WorldSpec&) = default;
};

/// Ranks in range, no empty group, no member or link twice; kInvalidInput otherwise.
[[nodiscard]] Result<void> validate(const WorldSpec& spec);

/// Every ordered pair of ranks (also a rank with itself) on channels 0 .. channels - 1.
[[nodiscard]] std::vector<CommLink> all_links(int ranks, int channels);

/// An event that the caller's own code completes (computation on a host thread).
class EventSource {
 public:
  EventSource() = default;
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;
  virtual ~EventSource() = default;  ///< fails the event if it was not completed

  [[nodiscard]] virtual Event event() const = 0;
  /// Once, either of them; any thread.
  virtual void complete() = 0;
  virtual void fail(Error error) = 0;
};

/// One rank's end of the world: its communicators, streams and clock.
class Endpoint {
 public:
  Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  virtual ~Endpoint() = default;

  [[nodiscard]] virtual RankId rank() const = 0;
  /// All ranks; rank in the group = rank.
  [[nodiscard]] virtual Communicator& world() = 0;
  /// Null where this rank is no member.  REQUIRES: group indexes WorldSpec::groups.
  [[nodiscard]] virtual Communicator* group(GroupId group) = 0;
  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream(std::string label) = 0;
  [[nodiscard]] virtual std::unique_ptr<EventSource> make_event(std::string label) = 0;
  [[nodiscard]] virtual const RunClock& clock() const = 0;

  /// Ends the run on all ranks because of `reason`: whoever waits, or calls later, throws
  /// BackendError.  Only the first abort of a run counts.  On return nobody touches any
  /// buffer of this rank.  Any thread.
  virtual void abort(Error reason) = 0;
};

/// The ranks that live in this process: all of them in-process, one under MPI or NCCL.
/// Streams, event sources and posting threads end before the world does; events may outlive
/// it.
class World {
 public:
  World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  virtual ~World() = default;

  /// One thread drives one endpoint.
  [[nodiscard]] virtual std::span<Endpoint* const> endpoints() = 0;
  /// Why the run was aborted, if it was: the first cause, the same on every rank.
  [[nodiscard]] virtual std::optional<Error> failure() const = 0;
};

}  // namespace stagewright
