// Attention of parts of the sequences, joined over all parts, against that of whole sequences.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gradient_check.h"
#include "runtime/compute/attention.h"
#include "runtime/compute/kernels/columns.h"
#include "runtime/compute/kernels/token_places.h"

namespace stagewright::kernels {
namespace {

struct Case {
  AttentionShape part;  ///< what one part sees: `sequence` is the tokens of a part
  Index parts;
};

Index query_width(const AttentionShape& s) {
  return s.heads * s.head_dim;
}
Index key_width(const AttentionShape& s) {
  return 2 * s.kv_heads * s.head_dim;
}
Index packed_width(const AttentionShape& s) {
  return query_width(s) + key_width(s);
}

AttentionShape whole_of(const Case& c) {
  AttentionShape whole = c.part;
  whole.sequence *= c.parts;
  return whole;
}

Floats zeros(Index count) {
  return Floats(static_cast<std::size_t>(count));
}

/// The rows of a part, of a tensor with one row per token of the whole sequences.
Floats rows_of(const Case& c, Index part, const Floats& whole, Index width) {
  const TokenPlaces places{.tokens = c.part.sequence, .part = part, .parts = c.parts};
  Floats rows;
  for (Index row = 0; row < c.part.batch * c.part.sequence; ++row) {
    const auto begin = whole.begin() + places.in_micro_batch(row) * width;
    rows.insert(rows.end(), begin, begin + width);
  }
  return rows;
}

Floats keys_of(const Case& c, const Floats& qkv) {
  const Index rows = c.part.batch * c.part.sequence;
  Floats kv = zeros(rows * key_width(c.part));
  copy_columns({.whole = qkv.data(),
                .part = kv.data(),
                .begin = query_width(c.part),
                .width = key_width(c.part),
                .stride = packed_width(c.part)},
               rows);
  return kv;
}

struct Result {
  Floats output, log_sum_exp, dqkv;
};

/// The same for whole sequences and for parts; `others` holds the keys of other parts.
Result attend(const AttentionShape& shape,
              const Floats& qkv,
              const Floats& dout,
              const std::vector<OtherTokens>& others,
              std::vector<Floats>& dkv) {
  const Index rows = shape.batch * shape.sequence;
  Result result{.output = zeros(rows * query_width(shape)),
                .log_sum_exp = zeros(rows * shape.heads),
                .dqkv = Floats(qkv.size(), 99.0F)};
  Floats workspace = zeros(attention_backward_workspace(shape).count() / 4);
  AttentionForward forward{.shape = shape,
                           .qkv = qkv.data(),
                           .output = result.output.data(),
                           .log_sum_exp = result.log_sum_exp.data(),
                           .workspace = workspace.data()};
  attention_forward(forward);
  for (const OtherTokens& other : others) {
    forward.others = other;
    attention_forward(forward);
  }
  AttentionBackward backward{.shape = shape,
                             .qkv = qkv.data(),
                             .output = result.output.data(),
                             .log_sum_exp = result.log_sum_exp.data(),
                             .doutput = dout.data(),
                             .dqkv = result.dqkv.data(),
                             .workspace = workspace.data()};
  attention_backward(backward);
  for (const OtherTokens& other : others) {
    backward.others = other;
    backward.dkv = dkv[static_cast<std::size_t>(other.part)].data();
    attention_backward(backward);
  }
  return result;
}

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const bool causal : {true, false}) {
    result.push_back({{2, 2, 1, 1, 4, causal}, 2});
    result.push_back({{1, 66, 4, 2, 16, causal}, 2});   // a block of queries and a bit
    result.push_back({{2, 130, 2, 1, 33, causal}, 3});  // and of keys
    result.push_back({{1, 6, 6, 3, 8, causal}, 5});
  }
  return result;
}

TEST(AttentionRing, GivesPartsWhatWholeSequencesGive) {
  RandomInputs random(113);
  for (const Case& c : cases()) {
    SCOPED_TRACE(std::to_string(c.parts) + " parts of " + std::to_string(c.part.sequence) +
                 (c.part.causal ? ", causal" : ""));
    const AttentionShape whole = whole_of(c);
    const Index rows = whole.batch * whole.sequence;
    const Floats qkv = random.normal(rows * packed_width(whole));
    const Floats dout = random.normal(rows * query_width(whole));
    std::vector<Floats> none;
    const Result expected = attend(whole, qkv, dout, {}, none);

    std::vector<Floats> packed;
    std::vector<Floats> keys;
    std::vector<Floats> dkv;
    for (Index part = 0; part < c.parts; ++part) {
      packed.push_back(rows_of(c, part, qkv, packed_width(whole)));
      keys.push_back(keys_of(c, packed.back()));
      dkv.emplace_back(keys.back().size());
    }
    std::vector<Floats> dqkv;
    for (Index part = 0; part < c.parts; ++part) {
      std::vector<OtherTokens> others;
      for (Index back = 1; back < c.parts; ++back) {
        const Index other = (part + c.parts - back) % c.parts;
        others.push_back(
            {.kv = keys[static_cast<std::size_t>(other)].data(), .part = other, .own_part = part});
      }
      Result own = attend(c.part,
                          packed[static_cast<std::size_t>(part)],
                          rows_of(c, part, dout, query_width(whole)),
                          others,
                          dkv);
      expect_near(
          own.output, to_double(rows_of(c, part, expected.output, query_width(whole))), 2e-6);
      dqkv.push_back(std::move(own.dqkv));
    }
    for (Index part = 0; part < c.parts; ++part) {
      Floats& sum = dqkv[static_cast<std::size_t>(part)];
      add_columns({.part = dkv[static_cast<std::size_t>(part)].data(),
                   .whole = sum.data(),
                   .begin = query_width(c.part),
                   .width = key_width(c.part),
                   .stride = packed_width(c.part)},
                  c.part.batch * c.part.sequence);
      expect_near(sum, to_double(rows_of(c, part, expected.dqkv, packed_width(whole))), 4e-6);
    }
  }
}

}  // namespace
}  // namespace stagewright::kernels
