#include "runtime/trainer/sampled_batches.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

TokenData counting(std::size_t size) {
  TokenData data{"counting", {}, 1};
  for (std::size_t i = 0; i < size; ++i) {
    data.bytes.push_back(static_cast<char>(i));
  }
  return data;
}

Schedule layout(std::int32_t replicas, std::int32_t micro_batches, std::int32_t size) {
  Schedule schedule;
  schedule.replicas = replicas;
  schedule.micro_batches = micro_batches;
  schedule.micro_batch_size = size;
  schedule.sequence = 4;
  return schedule;
}

/// All sequences of a step as (first token, ...) in order of the global batch.
std::vector<std::int32_t> global_batch(const Schedule& schedule,
                                       const TokenData& data,
                                       std::uint64_t seed,
                                       std::int64_t step) {
  const SampledBatches batches(data, schedule, seed);
  std::vector<std::int32_t> all;
  for (std::int32_t replica = 0; replica < schedule.replicas; ++replica) {
    for (std::int32_t m = 0; m < schedule.micro_batches; ++m) {
      std::vector<std::int32_t> tokens(
          static_cast<std::size_t>(schedule.micro_batch_size * schedule.sequence));
      batches.tokens({step, replica, MicroBatchId(m)}, tokens);
      all.insert(all.end(), tokens.begin(), tokens.end());
    }
  }
  return all;
}

TEST(SampledBatches, EveryLayoutSeesTheSameGlobalBatch) {
  const TokenData data = counting(100);
  const auto whole = global_batch(layout(1, 1, 8), data, 7, 3);
  EXPECT_EQ(global_batch(layout(2, 2, 2), data, 7, 3), whole);
  EXPECT_EQ(global_batch(layout(1, 8, 1), data, 7, 3), whole);
  EXPECT_EQ(global_batch(layout(8, 1, 1), data, 7, 3), whole);
}

// Of 4 tokens in two parts the first has tokens 0 and 3 of each sequence, the second 1 and 2.
TEST(SampledBatches, PartsOfSequencesHaveTheirTokensOfThem) {
  const TokenData data = counting(100);
  Schedule schedule = layout(1, 1, 2);
  const auto whole = global_batch(schedule, data, 7, 3);
  schedule.sequence_parts = 2;
  const SampledBatches batches(data, schedule, 7);
  for (const std::int32_t part : {0, 1}) {
    std::vector<std::int32_t> tokens(4);
    std::vector<std::int32_t> targets(4);
    batches.tokens({3, 0, MicroBatchId(0), part}, tokens);
    batches.targets({3, 0, MicroBatchId(0), part}, targets);
    const std::vector<std::int32_t> expected =
        part == 0 ? std::vector{whole[0], whole[3], whole[4], whole[7]}
                  : std::vector{whole[1], whole[2], whole[5], whole[6]};
    EXPECT_EQ(tokens, expected);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      EXPECT_EQ(targets[i], tokens[i] + 1);
    }
  }
}

TEST(SampledBatches, StepsAndSeedsDiffer) {
  const TokenData data = counting(100);
  const Schedule schedule = layout(1, 2, 4);
  const std::set<std::vector<std::int32_t>> batches = {global_batch(schedule, data, 7, 0),
                                                       global_batch(schedule, data, 7, 1),
                                                       global_batch(schedule, data, 8, 0)};
  EXPECT_EQ(batches.size(), 3U);
}

TEST(SampledBatches, TargetsAreTheNextTokens) {
  const TokenData data = counting(100);
  const Schedule schedule = layout(1, 1, 2);
  const SampledBatches batches(data, schedule, 1);
  std::vector<std::int32_t> tokens(8);
  std::vector<std::int32_t> targets(8);
  batches.tokens({0, 0, MicroBatchId(0)}, tokens);
  batches.targets({0, 0, MicroBatchId(0)}, targets);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(targets[i], tokens[i] + 1);
  }
}

TEST(SampledBatches, ShortestDataIsOneSequenceAndItsLastTarget) {
  const Schedule schedule = layout(1, 1, 1);
  EXPECT_TRUE(SampledBatches::check(counting(5), schedule));
  EXPECT_EQ(
      SampledBatches::check(counting(4), schedule).error(),
      (Error{ErrorCode::kInvalidInput,
             "4 tokens are too few: a sequence of 4 and its targets need 5; give more data or "
             "plan shorter sequences",
             "counting"}));
  const TokenData data = counting(5);
  EXPECT_EQ(global_batch(schedule, data, 3, 0), (std::vector<std::int32_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace stagewright
