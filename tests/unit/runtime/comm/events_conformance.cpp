// Events: what waits for what, when it happened, and progress without waiting.

#include <algorithm>
#include <chrono>
#include <thread>

#include "communicator_conformance.h"

namespace stagewright {
namespace {

const Event kNow = Event::none();

/// Looks at the event without ever waiting for it, so that this thread moves nothing.
[[nodiscard]] bool becomes_ready(const Event& event) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!event.ready() && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  return event.ready();
}

TEST_P(CommunicatorConformance, NoneIsCompleteFromTheStart) {
  EXPECT_TRUE(Event::none().ready());
  EXPECT_EQ(Event::none().failure(), std::nullopt);
  Event::none().wait();
}

// The buffer gets its values after the call, before the event that the call waits for.
TEST_P(CommunicatorConformance, AnOperationBeginsAfterTheEventItWaitsFor) {
  for (const int ranks : kRankCounts) {
    run(one_group(ranks), [](Endpoint& endpoint) {
      Communicator& world = endpoint.world();
      std::mt19937 random(static_cast<std::uint32_t>(world.rank()));
      const std::unique_ptr<Stream> stream = endpoint.make_stream("gradients");
      for (int round = 0; round < 30; ++round) {
        const std::unique_ptr<EventSource> computed = endpoint.make_event("computed");
        std::vector<float> gradient(1000, -1.0F);
        const Event reduced =
            world.all_reduce(recv_buffer(gradient), Reduction::kSum, *stream, computed->event());
        random_delay(random);
        EXPECT_FALSE(reduced.ready());
        std::ranges::copy(floats_of(world.rank(), 1000), gradient.begin());
        computed->complete();
        reduced.wait();
        EXPECT_EQ(gradient, rank_ordered_sum(world.size(), 1000));
        EXPECT_GE(reduced.times().ready, computed->event().times().done);
      }
    });
  }
}

constexpr std::size_t kChainCount = 30000;

/// Rank 0 of the chain: sends to each other rank and, once that is done, receives from it.
void send_out_and_collect(Endpoint& endpoint) {
  std::vector<std::vector<float>> sent;
  std::vector<std::vector<float>> sums(4, std::vector<float>(kChainCount));
  std::vector<std::unique_ptr<Stream>> streams;
  sent.reserve(4);
  for (int peer = 0; peer < 4; ++peer) {
    sent.push_back(floats_of(peer, kChainCount));
  }
  for (int peer = 1; peer < 4; ++peer) {
    const auto index = static_cast<std::size_t>(peer);
    const std::span<const float> message(sent[index]);
    streams.push_back(endpoint.make_stream("to peer"));
    const Event out =
        endpoint.world().send(send_buffer(message), peer, ChannelId(0), *streams.back(), kNow);
    streams.push_back(endpoint.make_stream("from peer"));
    (void)endpoint.world().recv(recv_buffer(sums[index]), peer, ChannelId(0), *streams.back(), out);
  }
  for (const auto& stream : streams) {
    stream->synchronize();
  }
  std::vector<float> expected(kChainCount);
  for (std::size_t i = 0; i < kChainCount; ++i) {
    expected[i] = sent[1][i] + sent[2][i] + sent[3][i];
  }
  for (std::size_t peer = 1; peer < 4; ++peer) {
    EXPECT_EQ(sums[peer], expected);
  }
}

/// The others: receive, reduce what came among themselves, send the sum back.
void reduce_and_return(Endpoint& endpoint) {
  std::vector<float> buffer(kChainCount);
  const std::unique_ptr<Stream> in = endpoint.make_stream("in");
  const std::unique_ptr<Stream> reduce = endpoint.make_stream("reduce");
  const std::unique_ptr<Stream> out = endpoint.make_stream("out");
  const std::span<const float> sum(buffer);
  const Event received = endpoint.world().recv(recv_buffer(buffer), 0, ChannelId(0), *in, kNow);
  const Event reduced = endpoint.group(GroupId(0))
                            ->all_reduce(recv_buffer(buffer), Reduction::kSum, *reduce, received);
  const Event sent = endpoint.world().send(send_buffer(sum), 0, ChannelId(0), *out, reduced);
  sent.wait();
  EXPECT_GE(reduced.times().ready, received.times().done);
  EXPECT_GE(sent.times().ready, reduced.times().done);
}

// Three streams, one event after the other, nobody waits in between.
TEST_P(CommunicatorConformance, EventsOrderOperationsOfDifferentStreams) {
  WorldSpec spec = one_group(4);
  spec.groups = {{"reducers", {RankId(1), RankId(2), RankId(3)}}};
  run(spec, [](Endpoint& endpoint) {
    for (int round = 0; round < 10; ++round) {
      if (endpoint.rank() == RankId(0)) {
        send_out_and_collect(endpoint);
      } else {
        reduce_and_return(endpoint);
      }
    }
  });
}

TEST_P(CommunicatorConformance, AStreamRunsItsOperationsOneAfterTheOther) {
  run(one_group(2), [](Endpoint& endpoint) {
    Communicator& world = endpoint.world();
    const std::unique_ptr<Stream> stream = endpoint.make_stream("ordered");
    // Each reads what the one before it wrote, with nothing but the stream between them.
    std::vector<float> buffer(50000, 1.0F);
    std::vector<Event> events;
    events.reserve(20);
    for (int i = 0; i < 20; ++i) {
      events.push_back(world.all_reduce(recv_buffer(buffer), Reduction::kSum, *stream, kNow));
    }
    const Event mark = stream->record(kNow);
    mark.wait();
    EXPECT_EQ(buffer, std::vector<float>(50000, 1048576.0F));
    for (std::size_t i = 0; i < events.size(); ++i) {
      ASSERT_TRUE(events[i].ready());
      const CommTimes times = events[i].times();
      EXPECT_LE(times.posted, times.ready);
      EXPECT_LE(times.ready, times.started);
      EXPECT_LE(times.started, times.done);
      EXPECT_LE(times.done,
                i + 1 < events.size() ? events[i + 1].times().ready : mark.times().ready);
    }
  });
}

TEST_P(CommunicatorConformance, ARecordWaitsForItsEventAndHoldsBackWhatFollows) {
  run(one_group(1), [](Endpoint& endpoint) {
    const std::unique_ptr<Stream> stream = endpoint.make_stream("held");
    const std::unique_ptr<EventSource> source = endpoint.make_event("source");
    const Event mark = stream->record(source->event());
    const Event barrier = endpoint.world().barrier(*stream, kNow);
    EXPECT_FALSE(mark.ready());
    EXPECT_FALSE(barrier.ready());
    source->complete();
    barrier.wait();
    EXPECT_TRUE(mark.ready());
  });
}

// Nobody ever calls wait(): communication goes on while the ranks do something else.
TEST_P(CommunicatorConformance, PostedOperationsCompleteWhileTheirRanksCompute) {
  constexpr std::size_t kCount = std::size_t{1} << 20;
  run(one_group(2), [](Endpoint& endpoint) {
    Communicator& world = endpoint.world();
    const std::unique_ptr<Stream> stream = endpoint.make_stream("background");
    std::vector<float> buffer = floats_of(world.rank(), kCount);
    std::vector<float> gathered(kCount * 2);
    const Event reduced = world.all_reduce(recv_buffer(buffer), Reduction::kSum, *stream, kNow);
    const Event done = world.all_gather(
        send_buffer(std::span<const float>(buffer)), recv_buffer(gathered), *stream, kNow);
    ASSERT_TRUE(becomes_ready(done));
    EXPECT_TRUE(reduced.ready());
    EXPECT_TRUE(std::equal(buffer.begin(), buffer.end(), gathered.begin()));
    EXPECT_TRUE(buffer == rank_ordered_sum(2, kCount));
  });
}

// Whoever waits for the barrier may have begun to help with the reduction, and then leaves.
TEST_P(CommunicatorConformance, AThreadThatStopsWaitingLeavesNothingBehind) {
  constexpr std::size_t kCount = std::size_t{1} << 20;
  run(one_group(2), [](Endpoint& endpoint) {
    Communicator& world = endpoint.world();
    Communicator& group = *endpoint.group(GroupId(0));
    const std::vector<float> in = floats_of(world.rank(), kCount);
    const std::vector<float> expected = rank_ordered_sum(2, kCount);
    std::vector<float> sum(kCount);
    const std::unique_ptr<Stream> large = endpoint.make_stream("large");
    const std::unique_ptr<Stream> small = endpoint.make_stream("small");
    for (int round = 0; round < 20; ++round) {
      const Event reduced =
          group.all_reduce(send_buffer(in), recv_buffer(sum), Reduction::kSum, *large, kNow);
      world.barrier(*small, kNow).wait();
      ASSERT_TRUE(becomes_ready(reduced));
      EXPECT_TRUE(sum == expected);
    }
  });
}

TEST_P(CommunicatorConformance, AnEventMayOutliveItsStreamAndItsWorld) {
  std::vector<Event> kept(2, Event::none());
  run(one_group(2), [&kept](Endpoint& endpoint) {
    const std::unique_ptr<Stream> stream = endpoint.make_stream("short-lived");
    const Event barrier = endpoint.world().barrier(*stream, kNow);
    barrier.wait();
    kept[endpoint.rank().index()] = barrier;
  });
  for (const Event& event : kept) {
    EXPECT_TRUE(event.ready());
    EXPECT_EQ(event.failure(), std::nullopt);
    event.wait();
  }
}

}  // namespace
}  // namespace stagewright
