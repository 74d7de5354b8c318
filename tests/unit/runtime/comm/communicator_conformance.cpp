#include "communicator_conformance.h"

#include <chrono>
#include <cmath>
#include <exception>
#include <thread>

#include "runtime/backend_error.h"

namespace stagewright {

namespace {

/// Long enough for eight ranks under a sanitizer on a busy machine.
constexpr Duration kPatience = std::chrono::seconds(120);

[[nodiscard]] std::string message_of(const RankBody& body, Endpoint& endpoint) {
  try {
    body(endpoint);
    return {};
  } catch (const BackendError& error) {
    return error.error().message;
  }
}

[[nodiscard]] std::vector<std::string> run_everywhere(World& world, const RankBody& body) {
  std::vector<std::string> messages(world.endpoints().size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    threads.emplace_back(
        [&world, &messages, &body, i] { messages[i] = message_of(body, *world.endpoints()[i]); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return messages;
}

/// A well-mixed 32 bits of two numbers.
[[nodiscard]] std::uint32_t mix(std::uint32_t a, std::uint32_t b) {
  std::uint32_t x = a * 0x9E3779B9U ^ (b + 0x7F4A7C15U);
  x = (x ^ (x >> 16)) * 0x85EBCA6BU;
  x = (x ^ (x >> 13)) * 0xC2B2AE35U;
  return x ^ (x >> 16);
}

}  // namespace

void CommunicatorConformance::run(const WorldSpec& spec, const RankBody& body) {
  Result<std::unique_ptr<World>> world = GetParam().make_world(spec, kPatience);
  ASSERT_TRUE(world.has_value()) << world.error().to_string();
  for (const std::string& message : run_everywhere(**world, body)) {
    EXPECT_EQ(message, "");
  }
  EXPECT_EQ((*world)->failure(), std::nullopt);
}

std::vector<std::string> CommunicatorConformance::run_to_failure(const WorldSpec& spec,
                                                                 Duration timeout,
                                                                 const RankBody& body) {
  Result<std::unique_ptr<World>> world = GetParam().make_world(spec, timeout);
  if (!world) {
    ADD_FAILURE() << world.error().to_string();
    return {};
  }
  std::vector<std::string> messages = run_everywhere(**world, body);
  EXPECT_NE((*world)->failure(), std::nullopt);
  return messages;
}

WorldSpec one_group(int ranks, int channels) {
  WorldSpec spec;
  spec.ranks = ranks;
  CommGroup all{"all", {}};
  for (int rank = 0; rank < ranks; ++rank) {
    all.members.emplace_back(rank);
  }
  spec.groups = {all};
  spec.links = all_links(ranks, channels);
  return spec;
}

std::vector<float> floats_of(int rank, std::size_t count, std::uint32_t seed) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits =
        mix(static_cast<std::uint32_t>(rank) + 1000U * seed, static_cast<std::uint32_t>(i));
    const float mantissa = static_cast<float>(bits >> 8) / static_cast<float>(1U << 24) - 0.5F;
    values[i] = std::ldexp(mantissa, static_cast<int>(bits % 16U));
  }
  return values;
}

std::vector<std::int32_t> ints_of(int rank, std::size_t count) {
  std::vector<std::int32_t> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] =
        static_cast<std::int32_t>(
            mix(static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(i)) % 2000001U) -
        1000000;
  }
  return values;
}

std::vector<std::byte> bytes_of(int rank, std::size_t count) {
  std::vector<std::byte> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<std::byte>(
        mix(static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(i)));
  }
  return values;
}

std::vector<float> rank_ordered_sum(int ranks, std::size_t count) {
  std::vector<float> sum = floats_of(0, count);
  for (int rank = 1; rank < ranks; ++rank) {
    const std::vector<float> more = floats_of(rank, count);
    for (std::size_t i = 0; i < count; ++i) {
      sum[i] += more[i];
    }
  }
  return sum;
}

void random_delay(std::mt19937& random) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 20U);
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace stagewright
