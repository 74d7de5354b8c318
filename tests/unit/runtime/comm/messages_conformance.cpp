// Point-to-point messages: order within a channel, independence of channels, exchanges.

#include "communicator_conformance.h"

namespace stagewright {
namespace {

const Event kNow = Event::none();

TEST_P(CommunicatorConformance, MessagesGoRoundARing) {
  for (const int ranks : kRankCounts) {
    run(one_group(ranks), [](Endpoint& endpoint) {
      Communicator& world = endpoint.world();
      const int next = (world.rank() + 1) % world.size();
      const int previous = (world.rank() + world.size() - 1) % world.size();
      const std::unique_ptr<Stream> out = endpoint.make_stream("out");
      const std::unique_ptr<Stream> in = endpoint.make_stream("in");
      for (const std::size_t count : kLengths) {
        const std::vector<float> sent = floats_of(world.rank(), count);
        std::vector<float> received(count);
        const Event send = world.send(send_buffer(sent), next, ChannelId(0), *out, kNow);
        world.recv(recv_buffer(received), previous, ChannelId(0), *in, kNow).wait();
        send.wait();
        EXPECT_EQ(received, floats_of(previous, count));
      }
    });
  }
}

TEST_P(CommunicatorConformance, MessagesOfAChannelArriveInOrder) {
  constexpr int kMessages = 200;
  run(one_group(2), [](Endpoint& endpoint) {
    const std::unique_ptr<Stream> stream = endpoint.make_stream("messages");
    std::vector<std::vector<std::int32_t>> messages;
    for (int i = 0; i < kMessages; ++i) {
      const auto length = static_cast<std::size_t>(1 + i % 5);
      const int value = endpoint.rank() == RankId(0) ? i : -1;
      messages.emplace_back(length, value);
    }
    for (std::vector<std::int32_t>& message : messages) {
      if (endpoint.rank() == RankId(0)) {
        (void)endpoint.world().send(
            send_buffer(std::span<const std::int32_t>(message)), 1, ChannelId(0), *stream, kNow);
      } else {
        (void)endpoint.world().recv(recv_buffer(message), 0, ChannelId(0), *stream, kNow);
      }
    }
    stream->synchronize();
    for (int i = 0; i < kMessages; ++i) {
      EXPECT_EQ(messages[static_cast<std::size_t>(i)].front(), i);
      EXPECT_EQ(messages[static_cast<std::size_t>(i)].back(), i);
    }
  });
}

// Rank 1 sends on channel 0 only after it heard that channel 1 arrived.
TEST_P(CommunicatorConformance, AChannelDoesNotBlockAnother) {
  run(one_group(2, 2), [](Endpoint& endpoint) {
    Communicator& world = endpoint.world();
    const std::unique_ptr<Stream> first = endpoint.make_stream("channel 0");
    const std::unique_ptr<Stream> second = endpoint.make_stream("channel 1");
    std::vector<std::int32_t> a(1, 10);
    std::vector<std::int32_t> b(1, 11);
    if (endpoint.rank() == RankId(0)) {
      a = b = {0};
      const Event late = world.recv(recv_buffer(a), 1, ChannelId(0), *first, kNow);
      world.recv(recv_buffer(b), 1, ChannelId(1), *second, kNow).wait();
      EXPECT_FALSE(late.ready());
      world.send(send_buffer(std::span<const std::byte>()), 1, ChannelId(1), *second, kNow).wait();
      late.wait();
    } else {
      const std::span<const std::int32_t> sent_a(a);
      const std::span<const std::int32_t> sent_b(b);
      world.send(send_buffer(sent_b), 0, ChannelId(1), *second, kNow).wait();
      world.recv(recv_buffer(std::span<std::byte>()), 0, ChannelId(1), *second, kNow).wait();
      world.send(send_buffer(sent_a), 0, ChannelId(0), *first, kNow).wait();
    }
    EXPECT_EQ(a, (std::vector<std::int32_t>{10}));
    EXPECT_EQ(b, (std::vector<std::int32_t>{11}));
  });
}

// Every ordered pair of ranks, three channels each, all at the same time.
TEST_P(CommunicatorConformance, ConcurrentChannelsInBothDirectionsKeepTheirMessagesApart) {
  constexpr int kChannels = 3;
  constexpr int kMessages = 20;
  const auto length = [](int channel, int message) {
    return static_cast<std::size_t>(channel * 1000 + message * 61);
  };
  for (const int ranks : {2, 4}) {
    run(one_group(ranks, kChannels), [&](Endpoint& endpoint) {
      Communicator& world = endpoint.world();
      const int rank = world.rank();
      std::mt19937 random(static_cast<std::uint32_t>(rank));
      std::vector<std::unique_ptr<Stream>> streams;
      std::vector<std::vector<float>> sent;
      std::vector<std::vector<float>> received;
      std::vector<std::vector<float>> expected;
      sent.reserve(1000);  // the buffers must not move
      received.reserve(1000);
      for (int peer = 0; peer < ranks; ++peer) {
        for (int channel = 0; channel < kChannels; ++channel) {
          streams.push_back(endpoint.make_stream("out"));
          streams.push_back(endpoint.make_stream("in"));
          Stream& out = *streams[streams.size() - 2];
          Stream& in = *streams.back();
          for (int message = 0; message < kMessages; ++message) {
            const auto seed = static_cast<std::uint32_t>(2 + channel * 100 + message);
            const std::size_t count = length(channel, message);
            sent.push_back(floats_of(rank * 10 + peer, count, seed));
            received.emplace_back(count);
            expected.push_back(floats_of(peer * 10 + rank, count, seed));
            random_delay(random);
            (void)world.send(send_buffer(std::span<const float>(sent.back())),
                             peer,
                             ChannelId(channel),
                             out,
                             kNow);
            random_delay(random);
            (void)world.recv(recv_buffer(received.back()), peer, ChannelId(channel), in, kNow);
          }
        }
      }
      for (const std::unique_ptr<Stream>& stream : streams) {
        stream->synchronize();
      }
      EXPECT_EQ(received, expected);
    });
  }
}

TEST_P(CommunicatorConformance, ExchangesGoAllWaysAtOnce) {
  for (const int ranks : kRankCounts) {
    run(one_group(ranks), [](Endpoint& endpoint) {
      Communicator& world = endpoint.world();
      const std::unique_ptr<Stream> stream = endpoint.make_stream("exchange");
      for (const std::size_t count : kLengths) {
        std::vector<std::vector<float>> sent;
        std::vector<std::vector<float>> received;
        for (int peer = 0; peer < world.size(); ++peer) {
          sent.push_back(floats_of(world.rank() * 10 + peer, count));
          received.emplace_back(count);
        }
        std::vector<SendPart> sends;
        std::vector<RecvPart> receives;
        for (int peer = 0; peer < world.size(); ++peer) {
          const auto index = static_cast<std::size_t>(peer);
          sends.push_back({send_buffer(std::span<const float>(sent[index])), peer, ChannelId(0)});
          receives.push_back({recv_buffer(received[index]), peer, ChannelId(0)});
        }
        world.exchange(sends, receives, *stream, kNow).wait();
        for (int peer = 0; peer < world.size(); ++peer) {
          EXPECT_EQ(received[static_cast<std::size_t>(peer)],
                    floats_of(peer * 10 + world.rank(), count));
        }
      }
      world.exchange({}, {}, *stream, kNow).wait();
    });
  }
}

TEST_P(CommunicatorConformance, AnExchangeMeetsPlainSendsAndReceives) {
  run(one_group(2), [](Endpoint& endpoint) {
    Communicator& world = endpoint.world();
    const std::vector<float> sent = floats_of(world.rank(), 100);
    std::vector<float> received(100);
    const int peer = 1 - world.rank();
    const std::unique_ptr<Stream> out = endpoint.make_stream("out");
    const std::unique_ptr<Stream> in = endpoint.make_stream("in");
    if (world.rank() == 0) {
      const SendPart send{send_buffer(sent), peer, ChannelId(0)};
      const RecvPart receive{recv_buffer(received), peer, ChannelId(0)};
      world.exchange({&send, 1}, {&receive, 1}, *out, kNow).wait();
    } else {
      (void)world.send(send_buffer(sent), peer, ChannelId(0), *out, kNow);
      (void)world.recv(recv_buffer(received), peer, ChannelId(0), *in, kNow);
      in->synchronize();
      out->synchronize();
    }
    EXPECT_EQ(received, floats_of(peer, 100));
  });
}

// Links belong to the world: the group only gives the peer a number.
TEST_P(CommunicatorConformance, MessagesMatchByLinkWhateverGroupTheyWerePostedThrough) {
  WorldSpec spec = one_group(3);
  spec.groups.push_back({"last two", {RankId(2), RankId(1)}});
  run(spec, [](Endpoint& endpoint) {
    const std::unique_ptr<Stream> stream = endpoint.make_stream("messages");
    std::vector<std::int32_t> value = {endpoint.rank().value()};
    if (endpoint.rank() == RankId(1)) {
      const std::span<const std::int32_t> sent(value);
      endpoint.world().send(send_buffer(sent), 2, ChannelId(0), *stream, kNow).wait();
      endpoint.group(GroupId(1))->send(send_buffer(sent), 0, ChannelId(0), *stream, kNow).wait();
    } else if (endpoint.rank() == RankId(2)) {
      endpoint.group(GroupId(1))->recv(recv_buffer(value), 1, ChannelId(0), *stream, kNow).wait();
      EXPECT_EQ(value, (std::vector<std::int32_t>{1}));
      endpoint.world().recv(recv_buffer(value), 1, ChannelId(0), *stream, kNow).wait();
      EXPECT_EQ(value, (std::vector<std::int32_t>{1}));
    }
  });
}

}  // namespace
}  // namespace stagewright
