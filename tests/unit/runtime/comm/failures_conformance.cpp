// A rank that fails, hangs, stays away or disagrees ends the run everywhere, and everybody
// learns why.

#include <chrono>
#include <string>

#include <gmock/gmock.h>

#include "communicator_conformance.h"

namespace stagewright {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

const Event kNow = Event::none();

/// How long a rank waits in a test whose point is that it waits in vain.
constexpr Duration kShort = std::chrono::milliseconds(200);
/// In a test whose point is that nobody waits that long.
constexpr Duration kLong = std::chrono::seconds(120);

[[nodiscard]] RankBody reduce_unless(int absent) {
  return [absent](Endpoint& endpoint) {
    if (endpoint.rank().value() == absent) {
      return;
    }
    const std::unique_ptr<Stream> stream = endpoint.make_stream("reduce");
    std::vector<float> buffer(4);
    endpoint.group(GroupId(0))
        ->all_reduce(recv_buffer(buffer), Reduction::kSum, *stream, kNow)
        .wait();
  };
}

TEST_P(CommunicatorConformance, AnAbsentRankEndsTheRunOfAllWhoWaitForIt) {
  for (const int ranks : {2, 4}) {
    const auto messages = run_to_failure(one_group(ranks), kShort, reduce_unless(1));
    for (int rank = 0; rank < ranks; ++rank) {
      if (rank == 1) {
        continue;
      }
      const std::string& message = messages[static_cast<std::size_t>(rank)];
      EXPECT_THAT(message, HasSubstr("waited 200 ms for all_reduce of 4 float32 (sum)"));
      EXPECT_THAT(message, HasSubstr("group 'all'"));
      EXPECT_THAT(message, HasSubstr("not arrived: rank 1 (has posted nothing)"));
    }
  }
}

TEST_P(CommunicatorConformance, AReceiveWithoutASendNamesTheLinkAndWhatThePeerDidLast) {
  const auto messages = run_to_failure(one_group(2, 8), kShort, [](Endpoint& endpoint) {
    const std::unique_ptr<Stream> stream = endpoint.make_stream("messages");
    endpoint.world().barrier(*stream, kNow).wait();
    if (endpoint.rank() == RankId(0)) {
      std::vector<float> buffer(3);
      endpoint.world().recv(recv_buffer(buffer), 1, ChannelId(7), *stream, kNow).wait();
    }
  });
  EXPECT_EQ(messages[0],
            "rank 0 waited 200 ms for recv #1 of 3 float32 from rank 1 to rank 0 on channel 7: not "
            "arrived: rank 1 (posted last barrier (#1 of the world), complete)");
  EXPECT_EQ(messages[1], "");
}

TEST_P(CommunicatorConformance, AWaitBehindOtherOperationsNamesTheOneThatHoldsAllUp) {
  const auto messages = run_to_failure(one_group(2), kShort, [](Endpoint& endpoint) {
    if (endpoint.rank() == RankId(1)) {
      return;
    }
    const std::unique_ptr<Stream> in = endpoint.make_stream("in");
    const std::unique_ptr<Stream> out = endpoint.make_stream("out");
    std::vector<float> buffer(3);
    (void)endpoint.world().recv(recv_buffer(buffer), 1, ChannelId(0), *in, kNow);
    const Event second = endpoint.world().barrier(*in, kNow);
    out->record(second).wait();
  });
  EXPECT_THAT(messages[0],
              AllOf(HasSubstr("rank 0 waited 200 ms for a mark on stream 'out', which waits for "
                              "barrier (#1 of the world), behind, on stream 'in', recv #1"),
                    HasSubstr("not arrived: rank 1 (has posted nothing)")));
}

TEST_P(CommunicatorConformance, AnEventThatNobodyCompletesIsNamed) {
  const auto messages = run_to_failure(one_group(1), kShort, [](Endpoint& endpoint) {
    const std::unique_ptr<EventSource> never = endpoint.make_event("weights updated");
    const std::unique_ptr<Stream> stream = endpoint.make_stream("messages");
    endpoint.world().barrier(*stream, never->event()).wait();
  });
  EXPECT_EQ(messages[0],
            "rank 0 waited 200 ms for barrier (#1 of the world), which waits for event 'weights "
            "updated' of rank 0: not completed by its owner");
}

// Rank 2 gives up; the others wait for it in an operation, in a message and for an event.
TEST_P(CommunicatorConformance, AnAbortWakesEveryRankWhateverItWaitsFor) {
  const auto messages = run_to_failure(one_group(4), kLong, [](Endpoint& endpoint) {
    const std::unique_ptr<Stream> stream = endpoint.make_stream("work");
    std::vector<float> buffer(100);
    Communicator& world = endpoint.world();
    world.barrier(*stream, kNow).wait();
    switch (endpoint.rank().value()) {
      case 0:
        return world.all_reduce(recv_buffer(buffer), Reduction::kSum, *stream, kNow).wait();
      case 1:
        return world.recv(recv_buffer(buffer), 2, ChannelId(0), *stream, kNow).wait();
      case 2:
        endpoint.abort(Error{ErrorCode::kBackendFailed, "rank 2: the device is gone", {}});
        endpoint.abort(Error{ErrorCode::kBackendFailed, "a second reason", {}});
        return world.barrier(*stream, kNow).wait();
      default:
        const std::unique_ptr<EventSource> never = endpoint.make_event("never");
        return never->event().wait();
    }
  });
  EXPECT_THAT(messages, Each("rank 2: the device is gone"));
}

TEST_P(CommunicatorConformance, ARankThatUnwindsFromAnErrorEndsTheOthers) {
  const auto messages = run_to_failure(one_group(3), kLong, [](Endpoint& endpoint) {
    const std::unique_ptr<Stream> stream = endpoint.make_stream("gradients");
    std::vector<float> buffer(100);
    const Event reduced =
        endpoint.world().all_reduce(recv_buffer(buffer), Reduction::kSum, *stream, kNow);
    if (endpoint.rank() != RankId(1)) {
      // Its second barrier never comes.
      endpoint.world().barrier(*stream, kNow).wait();
      endpoint.world().barrier(*stream, kNow).wait();
      return;
    }
    (void)endpoint.world().barrier(*stream, kNow);
    std::vector<float> more(100);
    (void)endpoint.world().recv(recv_buffer(more), 0, ChannelId(0), *stream, kNow);
    reduced.wait();
  });
  EXPECT_EQ(messages[1], "");
  EXPECT_THAT(messages[0], HasSubstr("rank 1 gave up its stream 'gradients' before"));
  EXPECT_EQ(messages[0], messages[2]);
}

TEST_P(CommunicatorConformance, AFailedEventFailsWhatWaitsForItOnAllRanks) {
  const auto messages = run_to_failure(one_group(3), kLong, [](Endpoint& endpoint) {
    const std::unique_ptr<Stream> stream = endpoint.make_stream("gradients");
    const std::unique_ptr<EventSource> computed = endpoint.make_event("computed");
    std::vector<float> buffer(100);
    const Event reduced = endpoint.world().all_reduce(
        recv_buffer(buffer), Reduction::kSum, *stream, computed->event());
    if (endpoint.rank() == RankId(2)) {
      computed->fail(Error{ErrorCode::kBackendFailed, "out of memory", {}});
    } else {
      computed->complete();
    }
    reduced.wait();
  });
  EXPECT_THAT(messages,
              Each(AllOf(HasSubstr("rank 2: all_reduce of 100 float32 (sum)"),
                         HasSubstr("what it waits for failed: out of memory"))));
}

TEST_P(CommunicatorConformance, AnEventSourceThatIsDroppedFailsItsEvent) {
  const auto messages = run_to_failure(one_group(2), kLong, [](Endpoint& endpoint) {
    const std::unique_ptr<Stream> stream = endpoint.make_stream("work");
    std::unique_ptr<EventSource> dropped = endpoint.make_event("dropped");
    const Event mark = endpoint.world().barrier(*stream, dropped->event());
    dropped.reset();
    mark.wait();
  });
  EXPECT_THAT(messages, Each(HasSubstr("event 'dropped' of rank")));
}

/// Storage of rank 0 and rank 1, alive in all tests; `count` elements, at most 9.
[[nodiscard]] RecvBuffer floats(int rank, std::size_t count) {
  static std::vector<float> values(2 * 9);
  return recv_buffer(std::span(values).subspan(static_cast<std::size_t>(rank) * 9, count));
}
[[nodiscard]] RecvBuffer ints(int rank, std::size_t count) {
  static std::vector<std::int32_t> values(2 * 9);
  return recv_buffer(std::span(values).subspan(static_cast<std::size_t>(rank) * 9, count));
}

struct Disagreement {
  std::function<Event(Communicator&, Stream&, int rank)> post;
  std::string side0;
  std::string side1;
};

[[nodiscard]] std::vector<Disagreement> disagreements() {
  return {
      {[](Communicator& group, Stream& stream, int rank) {
         return group.all_reduce(floats(rank, rank == 0 ? 8 : 9), Reduction::kSum, stream, kNow);
       },
       "rank 0 posted all_reduce of 8 float32 (sum)",
       "rank 1 posted all_reduce of 9 float32 (sum)"},
      {[](Communicator& group, Stream& stream, int rank) {
         return group.all_reduce(
             rank == 0 ? floats(rank, 8) : ints(rank, 8), Reduction::kSum, stream, kNow);
       },
       "rank 0 posted all_reduce of 8 float32 (sum)",
       "rank 1 posted all_reduce of 8 int32 (sum)"},
      {[](Communicator& group, Stream& stream, int rank) {
         return group.all_reduce(
             floats(rank, 8), rank == 0 ? Reduction::kSum : Reduction::kMax, stream, kNow);
       },
       "rank 0 posted all_reduce of 8 float32 (sum)",
       "rank 1 posted all_reduce of 8 float32 (max)"},
      {[](Communicator& group, Stream& stream, int rank) {
         return group.broadcast(floats(rank, 8), rank, stream, kNow);
       },
       "rank 0 posted broadcast of 8 float32 from member 0",
       "rank 1 posted broadcast of 8 float32 from member 1"},
      {[](Communicator& group, Stream& stream, int rank) {
         return rank == 0 ? group.barrier(stream, kNow)
                          : group.broadcast(floats(rank, 8), 0, stream, kNow);
       },
       "rank 0 posted barrier",
       "rank 1 posted broadcast of 8 float32 from member 0"},
      {[](Communicator& group, Stream& stream, int rank) {
         const RecvBuffer buffer = floats(rank, rank == 0 ? 8 : 9);
         return rank == 0
                    ? group.send(
                          {buffer.data, buffer.count, buffer.type}, 1, ChannelId(0), stream, kNow)
                    : group.recv(buffer, 0, ChannelId(0), stream, kNow);
       },
       "rank 0 posted 8 float32",
       "rank 1 posted 9 float32"},
  };
}

TEST_P(CommunicatorConformance, MembersThatDisagreeAreToldAboutBothSides) {
  for (const Disagreement& test : disagreements()) {
    const auto messages = run_to_failure(one_group(2), kLong, [&test](Endpoint& endpoint) {
      const std::unique_ptr<Stream> stream = endpoint.make_stream("mismatch");
      test.post(*endpoint.group(GroupId(0)), *stream, endpoint.rank().value()).wait();
    });
    EXPECT_THAT(messages, Each(AllOf(HasSubstr(test.side0), HasSubstr(test.side1))));
  }
}

/// Reduces over and over, waiting now and then; rank 0 stops early and aborts.
void reduce_until_aborted(Endpoint& endpoint, std::uint32_t seed) {
  std::mt19937 random(seed * 10U + static_cast<std::uint32_t>(endpoint.rank().value()));
  std::vector<float> buffer(std::size_t{1} << (seed % 2U == 0 ? 12U : 19U));
  const std::unique_ptr<Stream> stream = endpoint.make_stream("work");
  const std::uint32_t rounds = endpoint.rank() == RankId(0) ? 1 + seed % 5U : 100;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const Event reduced =
        endpoint.world().all_reduce(recv_buffer(buffer), Reduction::kMax, *stream, kNow);
    random_delay(random);
    if (random() % 2U == 0) {
      reduced.wait();
    }
  }
  endpoint.abort(Error{ErrorCode::kBackendFailed, "enough", {}});
}

// Buffers die as each rank unwinds: the address sanitizer sees a late access.
TEST_P(CommunicatorConformance, NothingTouchesABufferAfterAnAbort) {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const auto messages = run_to_failure(
        one_group(2 + static_cast<int>(seed % 3U)), kLong, [seed](Endpoint& endpoint) {
          reduce_until_aborted(endpoint, seed);
        });
    EXPECT_EQ(messages.front(), "");  // the one that aborted
    for (std::size_t rank = 1; rank < messages.size(); ++rank) {
      EXPECT_EQ(messages[rank], "enough");
    }
  }
}

}  // namespace
}  // namespace stagewright
