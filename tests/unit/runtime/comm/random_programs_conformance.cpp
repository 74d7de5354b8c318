// Random programs: many operations over overlapping groups, links and streams, each on the
// results of earlier ones, posted with random delays and waited for at random.

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>

#include "communicator_conformance.h"

namespace stagewright {
namespace {

constexpr std::size_t kOperations = 150;
constexpr int kGroups = 4;
constexpr int kChannels = 2;

/// One operation of a program that all ranks know.  It reads the result of an earlier one,
/// `input`, on every rank that takes part in it (or fresh values where that is none's).
struct RandomOperation {
  enum class Kind {
    kAllReduce,
    kBroadcast,
    kMessage
  };
  Kind kind = Kind::kAllReduce;
  std::size_t group = 0;  ///< of a collective
  int root = 0;           ///< of a broadcast
  RankId source;          ///< of a message
  RankId destination;     ///< of a message
  int channel = 0;        ///< of a message
  std::size_t count = 0;
  std::optional<std::size_t> input;
};

struct RandomProgram {
  WorldSpec spec;
  std::vector<RandomOperation> operations;
};

[[nodiscard]] RandomProgram make_program(int ranks, std::mt19937& random) {
  RandomProgram program;
  program.spec = one_group(ranks, kChannels);
  for (int group = 1; group < kGroups; ++group) {
    std::vector<RankId> members = program.spec.groups[0].members;
    std::shuffle(members.begin(), members.end(), random);
    members.resize(1 + random() % members.size());
    program.spec.groups.push_back({"random", members});
  }
  const auto any_rank = [&] {
    return RankId(static_cast<int>(random() % static_cast<unsigned>(ranks)));
  };
  for (std::size_t i = 0; i < kOperations; ++i) {
    RandomOperation operation;
    operation.kind = static_cast<RandomOperation::Kind>(random() % 3U);
    operation.group = random() % kGroups;
    const std::size_t members = program.spec.groups[operation.group].members.size();
    operation.root = static_cast<int>(random() % members);
    operation.source = any_rank();
    operation.destination = any_rank();
    operation.channel = static_cast<int>(random() % kChannels);
    // Mostly short; some longer than what is transferred at once.
    operation.count = random() % 10U == 0 ? 20000 + random() % 50000U : random() % 200U;
    if (i > 0 && random() % 2U == 0) {
      operation.input = random() % i;
      operation.count = program.operations[*operation.input].count;
    }
    program.operations.push_back(operation);
  }
  return program;
}

/// What each rank has after each operation; empty for a rank that takes no part in it.
using Results = std::vector<std::vector<float>>;  // [rank]

[[nodiscard]] std::vector<float> input_of(const RandomProgram& program,
                                          const std::vector<Results>& results,
                                          std::size_t index,
                                          std::size_t rank) {
  const RandomOperation& operation = program.operations[index];
  if (operation.input && !results[*operation.input][rank].empty()) {
    return results[*operation.input][rank];
  }
  return floats_of(static_cast<int>(rank), operation.count, static_cast<std::uint32_t>(index + 2));
}

/// The program run by one thread, one operation after the other.
[[nodiscard]] std::vector<Results> run_serially(const RandomProgram& program) {
  std::vector<Results> results;
  for (std::size_t index = 0; index < program.operations.size(); ++index) {
    const RandomOperation& operation = program.operations[index];
    Results result(static_cast<std::size_t>(program.spec.ranks));
    const std::vector<RankId>& members = program.spec.groups[operation.group].members;
    switch (operation.kind) {
      case RandomOperation::Kind::kAllReduce: {
        std::vector<float> sum = input_of(program, results, index, members.front().index());
        for (std::size_t member = 1; member < members.size(); ++member) {
          const std::vector<float> in = input_of(program, results, index, members[member].index());
          std::transform(sum.begin(), sum.end(), in.begin(), sum.begin(), std::plus<>());
        }
        for (const RankId member : members) {
          result[member.index()] = sum;
        }
        break;
      }
      case RandomOperation::Kind::kBroadcast: {
        const RankId root = members[static_cast<std::size_t>(operation.root)];
        for (const RankId member : members) {
          result[member.index()] = input_of(program, results, index, root.index());
        }
        break;
      }
      case RandomOperation::Kind::kMessage:
        result[operation.destination.index()] =
            input_of(program, results, index, operation.source.index());
        break;
    }
    results.push_back(std::move(result));
  }
  return results;
}

/// One rank's run of a program.  Every operation has buffers of its own.
class RankRun {
 public:
  RankRun(const RandomProgram& program, Endpoint& endpoint, std::uint32_t seed)
      : program_(program),
        endpoint_(endpoint),
        random_(seed * 100U + static_cast<std::uint32_t>(endpoint.rank().value())) {
    for (int i = 0; i < 3; ++i) {
      streams_.push_back(endpoint.make_stream("random"));
    }
  }

  void post_all() {
    for (std::size_t index = 0; index < program_.operations.size(); ++index) {
      results_.emplace_back();
      events_.push_back(Event::none());
      random_delay(random_);
      post(index);
      if (random_() % 5U == 0) {
        events_[random_() % events_.size()].wait();
      }
    }
    for (const auto& stream : streams_) {
      stream->synchronize();
    }
  }

  [[nodiscard]] std::span<const float> result(std::size_t index) const { return results_[index]; }

 private:
  void post(std::size_t index) {
    const RandomOperation& operation = program_.operations[index];
    switch (operation.kind) {
      case RandomOperation::Kind::kAllReduce:
        if (Communicator* group = endpoint_.group(GroupId(operation.group))) {
          const std::span<float> in = input(index);
          results_[index] = buffer(operation.count);
          events_[index] = group->all_reduce(send_buffer(std::span<const float>(in)),
                                             recv_buffer(results_[index]),
                                             Reduction::kSum,
                                             any_stream(),
                                             after(index));
        }
        return;
      case RandomOperation::Kind::kBroadcast:
        if (Communicator* group = endpoint_.group(GroupId(operation.group))) {
          const bool root = group->rank() == operation.root;
          results_[index] = root ? input(index) : buffer(operation.count);
          events_[index] = group->broadcast(recv_buffer(results_[index]),
                                            operation.root,
                                            any_stream(),
                                            root ? after(index) : Event::none());
        }
        return;
      case RandomOperation::Kind::kMessage:
        return post_message(index);
    }
  }

  void post_message(std::size_t index) {
    const RandomOperation& operation = program_.operations[index];
    const ChannelId channel(operation.channel);
    std::vector<SendPart> sends;
    std::vector<RecvPart> receives;
    Event ready = Event::none();
    if (endpoint_.rank() == operation.source) {
      const std::span<const float> in = input(index);
      sends.push_back({send_buffer(in), operation.destination.value(), channel});
      ready = after(index);
    }
    if (endpoint_.rank() == operation.destination) {
      results_[index] = buffer(operation.count);
      receives.push_back({recv_buffer(results_[index]), operation.source.value(), channel});
    }
    if (!sends.empty() || !receives.empty()) {
      events_[index] = endpoint_.world().exchange(sends, receives, any_stream(), ready);
    }
  }

  [[nodiscard]] bool reads_a_result(std::size_t index) const {
    const auto& input = program_.operations[index].input;
    return input && !results_[*input].empty();
  }
  [[nodiscard]] Event after(std::size_t index) const {
    return reads_a_result(index) ? events_[*program_.operations[index].input] : Event::none();
  }
  [[nodiscard]] std::span<float> input(std::size_t index) {
    if (reads_a_result(index)) {
      return results_[*program_.operations[index].input];
    }
    buffers_.push_back(floats_of(endpoint_.rank().value(),
                                 program_.operations[index].count,
                                 static_cast<std::uint32_t>(index + 2)));
    return buffers_.back();
  }
  [[nodiscard]] std::span<float> buffer(std::size_t count) { return buffers_.emplace_back(count); }
  [[nodiscard]] Stream& any_stream() { return *streams_[random_() % streams_.size()]; }

  const RandomProgram& program_;
  Endpoint& endpoint_;
  std::mt19937 random_;
  std::deque<std::vector<float>> buffers_;
  std::vector<std::span<float>> results_;
  std::vector<Event> events_;
  std::vector<std::unique_ptr<Stream>> streams_;  // gone before the buffers
};

TEST_P(CommunicatorConformance, RandomProgramsGiveWhatOneThreadComputes) {
  for (const int ranks : {1, 2, 3, 4, 8}) {
    for (std::uint32_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, seed " << seed);
      std::mt19937 random(seed * 1000U + static_cast<std::uint32_t>(ranks));
      const RandomProgram program = make_program(ranks, random);
      const std::vector<Results> expected = run_serially(program);
      run(program.spec, [&](Endpoint& endpoint) {
        RankRun rank_run(program, endpoint, seed);
        rank_run.post_all();
        for (std::size_t index = 0; index < kOperations; ++index) {
          const std::span<const float> result = rank_run.result(index);
          const std::vector<float>& wanted = expected[index][endpoint.rank().index()];
          ASSERT_EQ(result.size(), wanted.size()) << "operation " << index;
          EXPECT_TRUE(wanted.empty() ||
                      std::memcmp(result.data(), wanted.data(), result.size_bytes()) == 0)
              << "operation " << index << " on rank " << endpoint.rank().value();
        }
      });
    }
  }
}

}  // namespace
}  // namespace stagewright
