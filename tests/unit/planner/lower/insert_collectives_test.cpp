#include "planner/lower/insert_collectives.h"

#include <gtest/gtest.h>

#include "tests/support/program_text.h"

namespace stagewright {
namespace {

/// Tensors "a" to "e" of 2 x 3 and lists over them, written as kind, inputs, output.
class InsertCollectives : public testing::Test {
 protected:
  InsertCollectives() {
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      TensorSpec tensor;
      tensor.name = name;
      tensor.shape = {2, 3};
      program_.tensors.push_back(tensor);
    }
  }

  static TensorId id(char name) { return TensorId(name - 'a'); }

  static DraftOperation op(OpKind kind, const std::string& inputs, char output) {
    DraftOperation draft;
    draft.op.kind = kind;
    for (const char input : inputs) {
      draft.op.inputs.push_back(id(input));
    }
    draft.op.outputs = {id(output)};
    return draft;
  }

  static DraftOperation partial(DraftOperation draft, OpVariant reduction = OpVariant::kSum) {
    draft.partial = reduction;
    return draft;
  }

  [[nodiscard]] std::string inserted(const std::vector<DraftOperation>& draft) const {
    return text_of(program_, insert_collectives(draft, GroupSlot(1), program_.tensors));
  }

  RankProgram program_;
};

TEST_F(InsertCollectives, StandBehindTheWriterSoThatWorkBetweenOverlaps) {
  EXPECT_EQ(inserted({partial(op(OpKind::kGemm, "a", 'b')),
                      op(OpKind::kGemm, "a", 'c'),
                      op(OpKind::kCopy, "b", 'd')}),
            "0 gemm fp32: a -> b;\n"
            "1 all-reduce(sum) fp32 cols=6: b -> b; group=1\n"
            "0 gemm fp32: a -> c;\n"
            "0 copy fp32: b -> d;\n");
}

TEST_F(InsertCollectives, ASumOfPartialSumsIsReducedOnce) {
  EXPECT_EQ(inserted({partial(op(OpKind::kGemm, "a", 'b')),
                      partial(op(OpKind::kGemm, "a", 'c')),
                      op(OpKind::kAdd, "bc", 'c'),
                      op(OpKind::kCopy, "c", 'd')}),
            "0 gemm fp32: a -> b;\n"
            "0 gemm fp32: a -> c;\n"
            "0 add fp32: b, c -> c;\n"
            "1 all-reduce(sum) fp32 cols=6: c -> c; group=1\n"
            "0 copy fp32: c -> d;\n");
}

TEST_F(InsertCollectives, APartialSumIsMadeWholeBeforeAWholeValueIsAdded) {
  EXPECT_EQ(inserted({partial(op(OpKind::kGemm, "a", 'b')), op(OpKind::kAdd, "bc", 'b')}),
            "0 gemm fp32: a -> b;\n"
            "1 all-reduce(sum) fp32 cols=6: b -> b; group=1\n"
            "0 add fp32: b, c -> b;\n");
}

TEST_F(InsertCollectives, WhatOnlyALaterListReadsIsMadeWholeToo) {
  EXPECT_EQ(inserted({partial(op(OpKind::kLossRowMax, "a", 'b'), OpVariant::kMaximum)}),
            "0 loss-row-max fp32: a -> b;\n"
            "1 all-reduce(maximum) fp32 cols=6: b -> b; group=1\n");
}

TEST_F(InsertCollectives, NothingIsInsertedWhereAllIsWhole) {
  EXPECT_EQ(text_of(program_,
                    insert_collectives({op(OpKind::kGemm, "a", 'b'), op(OpKind::kCopy, "b", 'c')},
                                       std::nullopt,
                                       program_.tensors)),
            "0 gemm fp32: a -> b;\n"
            "0 copy fp32: b -> c;\n");
}

}  // namespace
}  // namespace stagewright
