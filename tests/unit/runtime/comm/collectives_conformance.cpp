// Collectives against a serial computation, for all worlds and lengths.

#include <algorithm>
#include <atomic>
#include <limits>

#include "communicator_conformance.h"

namespace stagewright {
namespace {

const Event kNow = Event::none();

/// Calls `check` in a world of each size with one group, on each rank and for each length.
using CollectiveCheck = std::function<void(Communicator& group, Stream& stream, std::size_t count)>;

[[nodiscard]] RankBody for_each_length(const CollectiveCheck& check) {
  return [&check](Endpoint& endpoint) {
    const std::unique_ptr<Stream> stream = endpoint.make_stream("collectives");
    for (const std::size_t count : kLengths) {
      SCOPED_TRACE(testing::Message() << "rank " << endpoint.rank().value() << " of "
                                      << endpoint.world().size() << ", " << count << " elements");
      check(*endpoint.group(GroupId(0)), *stream, count);
    }
  };
}

template <class T>
[[nodiscard]] std::span<T> part_of(std::vector<T>& values, int part, std::size_t count) {
  return std::span<T>(values).subspan(static_cast<std::size_t>(part) * count, count);
}

TEST_P(CommunicatorConformance, AllReduceSumsInRankOrderToTheSameBitsOnAllRanks) {
  const CollectiveCheck check = [](Communicator& group, Stream& stream, std::size_t count) {
    const std::vector<float> in = floats_of(group.rank(), count);
    std::vector<float> out(count, -1.0F);
    group.all_reduce(send_buffer(in), recv_buffer(out), Reduction::kSum, stream, kNow).wait();
    EXPECT_EQ(out, rank_ordered_sum(group.size(), count));
    EXPECT_EQ(in, floats_of(group.rank(), count));
  };
  for (const int ranks : kRankCounts) {
    run(one_group(ranks), for_each_length(check));
  }
}

TEST_P(CommunicatorConformance, AllReduceInPlaceGivesTheSame) {
  const CollectiveCheck check = [](Communicator& group, Stream& stream, std::size_t count) {
    std::vector<float> buffer = floats_of(group.rank(), count);
    group.all_reduce(recv_buffer(buffer), Reduction::kSum, stream, kNow).wait();
    EXPECT_EQ(buffer, rank_ordered_sum(group.size(), count));
  };
  for (const int ranks : kRankCounts) {
    run(one_group(ranks), for_each_length(check));
  }
}

TEST_P(CommunicatorConformance, AllReduceFindsTheLargest) {
  const CollectiveCheck check = [](Communicator& group, Stream& stream, std::size_t count) {
    std::vector<float> buffer = floats_of(group.rank(), count);
    group.all_reduce(recv_buffer(buffer), Reduction::kMax, stream, kNow).wait();
    std::vector<float> largest = floats_of(0, count);
    for (int rank = 1; rank < group.size(); ++rank) {
      const std::vector<float> other = floats_of(rank, count);
      std::transform(
          largest.begin(), largest.end(), other.begin(), largest.begin(), [](auto a, auto b) {
            return std::max(a, b);
          });
    }
    EXPECT_EQ(buffer, largest);
  };
  for (const int ranks : kRankCounts) {
    run(one_group(ranks), for_each_length(check));
  }
}

TEST_P(CommunicatorConformance, AllReduceOfIntegersIsExact) {
  const CollectiveCheck check = [](Communicator& group, Stream& stream, std::size_t count) {
    std::vector<std::int32_t> sum = ints_of(group.rank(), count);
    std::vector<std::int32_t> largest = sum;
    group.all_reduce(recv_buffer(sum), Reduction::kSum, stream, kNow).wait();
    group.all_reduce(recv_buffer(largest), Reduction::kMax, stream, kNow).wait();
    std::vector<std::int32_t> expected_sum(count, 0);
    std::vector<std::int32_t> expected_largest(count, std::numeric_limits<std::int32_t>::min());
    for (int rank = 0; rank < group.size(); ++rank) {
      const std::vector<std::int32_t> values = ints_of(rank, count);
      for (std::size_t i = 0; i < count; ++i) {
        expected_sum[i] += values[i];
        expected_largest[i] = std::max(expected_largest[i], values[i]);
      }
    }
    EXPECT_EQ(sum, expected_sum);
    EXPECT_EQ(largest, expected_largest);
  };
  for (const int ranks : kRankCounts) {
    run(one_group(ranks), for_each_length(check));
  }
}

TEST_P(CommunicatorConformance, AllGatherConcatenatesInRankOrder) {
  const CollectiveCheck check = [](Communicator& group, Stream& stream, std::size_t count) {
    const auto size = static_cast<std::size_t>(group.size());
    const std::vector<std::byte> in = bytes_of(group.rank(), count);
    std::vector<std::byte> out(count * size);
    group.all_gather(send_buffer(in), recv_buffer(out), stream, kNow).wait();

    std::vector<float> in_place(count * size, 0.0F);
    const std::span<float> own = part_of(in_place, group.rank(), count);
    std::ranges::copy(floats_of(group.rank(), count), own.begin());
    group.all_gather(send_buffer(std::span<const float>(own)), recv_buffer(in_place), stream, kNow)
        .wait();

    for (int rank = 0; rank < group.size(); ++rank) {
      EXPECT_TRUE(std::ranges::equal(part_of(out, rank, count), bytes_of(rank, count)));
      EXPECT_TRUE(std::ranges::equal(part_of(in_place, rank, count), floats_of(rank, count)));
    }
  };
  for (const int ranks : kRankCounts) {
    run(one_group(ranks), for_each_length(check));
  }
}

TEST_P(CommunicatorConformance, ReduceScatterGivesEachItsPartOfTheSum) {
  const CollectiveCheck check = [](Communicator& group, Stream& stream, std::size_t count) {
    const std::size_t total = count * static_cast<std::size_t>(group.size());
    std::vector<float> expected_all = rank_ordered_sum(group.size(), total);
    const std::span<float> expected = part_of(expected_all, group.rank(), count);

    const std::vector<float> in = floats_of(group.rank(), total);
    std::vector<float> out(count, -1.0F);
    group.reduce_scatter(send_buffer(in), recv_buffer(out), Reduction::kSum, stream, kNow).wait();
    EXPECT_TRUE(std::ranges::equal(out, expected));

    std::vector<float> in_place = in;
    group
        .reduce_scatter(send_buffer(std::span<const float>(in_place)),
                        recv_buffer(part_of(in_place, group.rank(), count)),
                        Reduction::kSum,
                        stream,
                        kNow)
        .wait();
    std::vector<float> expected_in_place = in;
    std::ranges::copy(expected, part_of(expected_in_place, group.rank(), count).begin());
    EXPECT_EQ(in_place, expected_in_place);
  };
  for (const int ranks : kRankCounts) {
    run(one_group(ranks), for_each_length(check));
  }
}

TEST_P(CommunicatorConformance, BroadcastCopiesFromAnyRoot) {
  const CollectiveCheck check = [](Communicator& group, Stream& stream, std::size_t count) {
    for (int root = 0; root < group.size(); ++root) {
      std::vector<float> buffer = floats_of(group.rank(), count);
      group.broadcast(recv_buffer(buffer), root, stream, kNow).wait();
      EXPECT_EQ(buffer, floats_of(root, count));
    }
  };
  for (const int ranks : kRankCounts) {
    run(one_group(ranks), for_each_length(check));
  }
}

TEST_P(CommunicatorConformance, RingShiftGivesEachWhatTheMemberBeforeHad) {
  const CollectiveCheck check = [](Communicator& group, Stream& stream, std::size_t count) {
    std::vector<float> own = floats_of(group.rank(), count);
    std::vector<float> received(count, -1.0F);
    for (int places = 1; places <= group.size(); ++places) {
      group
          .ring_shift(send_buffer(std::span<const float>(own)), recv_buffer(received), stream, kNow)
          .wait();
      EXPECT_EQ(
          received,
          floats_of((group.rank() + group.size() - places % group.size()) % group.size(), count));
      std::swap(own, received);
    }
  };
  for (const int ranks : kRankCounts) {
    run(one_group(ranks), for_each_length(check));
  }
}

TEST_P(CommunicatorConformance, AllToAllGivesEachItsPartOfAll) {
  const CollectiveCheck check = [](Communicator& group, Stream& stream, std::size_t count) {
    const std::size_t total = count * static_cast<std::size_t>(group.size());
    const std::vector<float> in = floats_of(group.rank(), total);
    std::vector<float> out(total, -1.0F);
    group.all_to_all(send_buffer(in), recv_buffer(out), {}, stream, kNow).wait();
    for (int rank = 0; rank < group.size(); ++rank) {
      std::vector<float> all = floats_of(rank, total);
      EXPECT_TRUE(std::ranges::equal(part_of(out, rank, count), part_of(all, group.rank(), count)));
    }
  };
  for (const int ranks : kRankCounts) {
    run(one_group(ranks), for_each_length(check));
  }
}

// Member r has r + e rows for expert e of each member; of the rest of a part nothing is said.
TEST_P(CommunicatorConformance, AllToAllBringsTheCountedRows) {
  constexpr std::size_t kExperts = 2;
  constexpr std::size_t kWidth = 3;
  const CollectiveCheck check = [](Communicator& group, Stream& stream, std::size_t) {
    const auto size = static_cast<std::size_t>(group.size());
    const std::size_t part = 2 * size * kWidth;
    std::vector<std::int32_t> counts;
    for (int member = 0; member < group.size(); ++member) {
      counts.insert(counts.end(), {group.rank(), group.rank() + 1});
    }
    const std::vector<float> in = floats_of(group.rank(), part * size);
    std::vector<float> out(part * size, -1.0F);
    const PartRows rows{.counts = counts.data(), .experts = kExperts, .width = kWidth};
    group.all_to_all(send_buffer(in), recv_buffer(out), rows, stream, kNow).wait();
    for (int rank = 0; rank < group.size(); ++rank) {
      const std::size_t sent = static_cast<std::size_t>(2 * rank + 1) * kWidth;
      std::vector<float> all = floats_of(rank, part * size);
      EXPECT_TRUE(std::ranges::equal(part_of(out, rank, part).first(sent),
                                     part_of(all, group.rank(), part).first(sent)));
    }
  };
  for (const int ranks : kRankCounts) {
    run(one_group(ranks), for_each_length(check));
  }
}

TEST_P(CommunicatorConformance, NobodyPassesABarrierBeforeAllReachedIt) {
  for (const int ranks : kRankCounts) {
    std::atomic<int> here = 0;
    std::atomic<int> reached = 0;
    run(one_group(ranks), [&](Endpoint& endpoint) {
      std::mt19937 random(static_cast<std::uint32_t>(endpoint.rank().value()));
      const std::unique_ptr<Stream> stream = endpoint.make_stream("barriers");
      ++here;
      endpoint.world().barrier(*stream, kNow).wait();
      for (int round = 1; round <= 50; ++round) {
        random_delay(random);
        ++reached;
        endpoint.world().barrier(*stream, kNow).wait();
        EXPECT_GE(reached.load(), round * here.load());
        endpoint.world().barrier(*stream, kNow).wait();
      }
    });
  }
}

TEST_P(CommunicatorConformance, LargeBuffersArriveWhole) {
  constexpr std::size_t kCount = (std::size_t{1} << 20) + 5;  // 4 MiB and a bit
  for (const int ranks : {2, 3}) {
    run(one_group(ranks), [](Endpoint& endpoint) {
      Communicator& world = endpoint.world();
      const std::unique_ptr<Stream> stream = endpoint.make_stream("large");
      std::vector<float> sum = floats_of(world.rank(), kCount);
      world.all_reduce(recv_buffer(sum), Reduction::kSum, *stream, kNow).wait();
      EXPECT_TRUE(sum == rank_ordered_sum(world.size(), kCount));
      world.broadcast(recv_buffer(sum), 1, *stream, kNow).wait();
      std::vector<float> all(kCount * static_cast<std::size_t>(world.size()));
      world.all_gather(send_buffer(sum), recv_buffer(all), *stream, kNow).wait();
      for (int rank = 0; rank < world.size(); ++rank) {
        EXPECT_TRUE(std::ranges::equal(part_of(all, rank, kCount), sum));
      }
    });
  }
}

/// dp2 x tp2 x pp2: rank = 4 * pipeline + 2 * data + tensor.  Each rank is in one tensor
/// group and one data group, which overlap in that rank only.
TEST_P(CommunicatorConformance, GroupsOfAGridReduceIndependently) {
  WorldSpec spec;
  spec.ranks = 8;
  for (int i = 0; i < 8; i += 2) {
    spec.groups.push_back({"tensor", {RankId(i), RankId(i + 1)}});
  }
  for (const int i : {0, 1, 4, 5}) {
    spec.groups.push_back({"data", {RankId(i), RankId(i + 2)}});
  }
  const auto sum_of = [](int a, int b, std::size_t count) {
    std::vector<float> sum = floats_of(a, count);
    const std::vector<float> other = floats_of(b, count);
    std::transform(sum.begin(), sum.end(), other.begin(), sum.begin(), std::plus<>());
    return sum;
  };
  run(spec, [&](Endpoint& endpoint) {
    const int rank = endpoint.rank().value();
    const int tensor = rank / 2;
    const int data = 4 + rank / 4 * 2 + rank % 2;
    std::mt19937 random(static_cast<std::uint32_t>(rank));
    const std::unique_ptr<Stream> tensor_stream = endpoint.make_stream("tensor");
    const std::unique_ptr<Stream> data_stream = endpoint.make_stream("data");
    for (int group = 0; group < 8; ++group) {
      EXPECT_EQ(endpoint.group(GroupId(group)) != nullptr, group == tensor || group == data);
    }
    for (std::size_t round = 0; round < 100; ++round) {
      const std::size_t count = 1 + round * 37;
      std::vector<float> in_tensor = floats_of(rank, count);
      std::vector<float> in_data = floats_of(rank, 2 * count);
      random_delay(random);
      const Event tensor_done =
          endpoint.group(GroupId(tensor))
              ->all_reduce(recv_buffer(in_tensor), Reduction::kSum, *tensor_stream, kNow);
      random_delay(random);
      const Event data_done =
          endpoint.group(GroupId(data))
              ->all_reduce(recv_buffer(in_data), Reduction::kSum, *data_stream, kNow);
      data_done.wait();
      tensor_done.wait();
      EXPECT_EQ(in_tensor, sum_of(rank - rank % 2, rank - rank % 2 + 1, count));
      const int first = rank / 4 * 4 + rank % 2;
      EXPECT_EQ(in_data, sum_of(first, first + 2, 2 * count));
    }
  });
}

TEST_P(CommunicatorConformance, RankInAGroupIsThePlaceInItsMemberList) {
  WorldSpec spec;
  spec.ranks = 3;
  spec.groups = {{"backwards", {RankId(2), RankId(0)}}};
  run(spec, [](Endpoint& endpoint) {
    Communicator* group = endpoint.group(GroupId(0));
    if (endpoint.rank() == RankId(1)) {
      EXPECT_EQ(group, nullptr);
      return;
    }
    EXPECT_EQ(group->label(), "backwards");
    EXPECT_EQ(group->size(), 2);
    EXPECT_EQ(group->rank(), endpoint.rank() == RankId(2) ? 0 : 1);
    const std::unique_ptr<Stream> stream = endpoint.make_stream("gather");
    const std::vector<std::int32_t> own = {endpoint.rank().value()};
    std::vector<std::int32_t> all(2);
    group->all_gather(send_buffer(own), recv_buffer(all), *stream, kNow).wait();
    EXPECT_EQ(all, (std::vector<std::int32_t>{2, 0}));
  });
}

}  // namespace
}  // namespace stagewright
