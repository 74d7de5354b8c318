#include "runtime/compute/kernels/embedding.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "gradient_check.h"

namespace stagewright::kernels {
namespace {

constexpr Index kTokens = 14;
constexpr Index kVocabulary = 9;

// The lookup in the rows [begin, begin + rows) of the whole table.
Floats lookup(const std::vector<std::int32_t>& tokens,
              const Floats& table,
              Index width,
              Index begin,
              Index rows) {
  Floats y(static_cast<std::size_t>(kTokens * width), 99.0F);
  embedding_forward({.tokens = tokens.data(),
                     .table = table.data() + begin * width,
                     .y = y.data(),
                     .width = width,
                     .vocab_begin = begin,
                     .vocab_rows = rows},
                    kTokens);
  return y;
}

template <class Number>
std::vector<Number> reference(const std::vector<std::int32_t>& tokens,
                              const std::vector<Number>& table,
                              Index width) {
  std::vector<Number> y;
  for (const std::int32_t token : tokens) {
    const auto row = table.begin() + token * width;
    y.insert(y.end(), row, row + width);
  }
  return y;
}

TEST(Embedding, CopiesTheRowsOfTheTokens) {
  RandomInputs random(71);
  for (const Index width : {1, 7, 65}) {
    const auto tokens = random.integers(kTokens, 0, kVocabulary - 1);
    const Floats table = random.normal(kVocabulary * width);
    EXPECT_EQ(lookup(tokens, table, width, 0, kVocabulary), reference(tokens, table, width));
  }
}

TEST(Embedding, SumsToTheWholeLookupOverSlicesOfTheVocabulary) {
  RandomInputs random(72);
  const Index width = 7;
  const auto tokens = random.integers(kTokens, 0, kVocabulary - 1);
  const Floats table = random.normal(kVocabulary * width);
  Floats sum = lookup(tokens, table, width, 0, 4);
  const Floats rest = lookup(tokens, table, width, 4, kVocabulary - 4);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += rest[i];
  }
  EXPECT_EQ(sum, reference(tokens, table, width));
}

TEST(GradientCheck, Embedding) {
  RandomInputs random(73);
  const Index width = 7;
  const auto tokens = random.integers(kTokens, 0, kVocabulary - 1);
  const Floats table = random.normal(kVocabulary * width);
  const Floats dy = random.normal(kTokens * width);
  Floats gradient(table.size());
  // As two ranks compute it, each for its slice.
  for (const auto& [begin, rows] : {std::pair<Index, Index>{0, 4}, {4, 5}}) {
    embedding_gradient({.tokens = tokens.data(),
                        .dy = dy.data(),
                        .dtable = gradient.data() + begin * width,
                        .width = width,
                        .vocab_begin = begin,
                        .vocab_rows = rows},
                       kTokens);
  }
  expect_gradient(
      table,
      gradient,
      {[&](const Floats& v) { return dot(lookup(tokens, v, width, 0, kVocabulary), dy); },
       [&](const Doubles& v) { return dot(reference(tokens, v, width), dy); }},
      random);
}

TEST(GradientCheck, Positions) {
  RandomInputs random(74);
  const Index width = 65;
  const Index sequence = 7;
  const Floats x = random.normal(kTokens * width);
  const Floats positions = random.normal(sequence * width);
  const Floats dy = random.normal(kTokens * width);
  // As two ranks compute it, each for its rows; the border lies inside a sequence.
  const std::array<std::pair<Index, Index>, 2> parts = {{{0, 10}, {10, kTokens - 10}}};
  Floats gradient(positions.size());
  for (const auto& [begin, rows] : parts) {
    position_gradient({.dy = dy.data() + begin * width,
                       .dpositions = gradient.data(),
                       .rows = rows,
                       .width = width,
                       .places = {.tokens = sequence, .first_row = begin}});
  }
  const auto kernel = [&](const Floats& p) {
    Floats y(x.size());
    for (const auto& [begin, rows] : parts) {
      position_forward({.x = x.data() + begin * width,
                        .positions = p.data(),
                        .y = y.data() + begin * width,
                        .width = width,
                        .places = {.tokens = sequence, .first_row = begin}},
                       rows);
    }
    return dot(y, dy);
  };
  const auto naive = [&](const Doubles& p) {
    Doubles y = to_double(x);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t token = i / width;
      y[i] += p[token % sequence * width + i % width];
    }
    return dot(y, dy);
  };
  expect_gradient(positions, gradient, {kernel, naive}, random);
}

}  // namespace
}  // namespace stagewright::kernels
