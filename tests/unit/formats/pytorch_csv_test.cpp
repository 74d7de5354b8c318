#include "formats/pytorch_csv.h"

#include <string>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

std::string error_of(const std::string& text) {
  const Result<TokenList> list = parse_pytorch_csv(text, "x.csv");
  return list ? "no error" : list.error().to_string();
}

TEST(PyTorchCsv, CountsSizesAndPlacesStages) {
  const Result<TokenList> list = parse_pytorch_csv(
      "0F0,0F1,,3F0,3I0,3W0,3F1,3B1,0B0,0B1\r\n1F0,2F0,1F1,2F1,2B0,1B0,2B1,1B1\n\n", "x.csv");
  ASSERT_TRUE(list) << list.error().to_string();
  EXPECT_EQ(list->stages, 4);
  EXPECT_EQ(list->micro_batches, 2);
  EXPECT_EQ(list->placement, (std::vector<std::vector<std::int32_t>>{{0, 1, 1, 0}}));
  EXPECT_EQ(list->copy_of, (std::vector<std::int32_t>{0, 0}));
  EXPECT_EQ(write_pytorch_csv(*list),
            "0F0,0F1,3F0,3I0,3W0,3F1,3B1,0B0,0B1\n1F0,2F0,1F1,2F1,2B0,1B0,2B1,1B1\n");
}

TEST(PyTorchCsv, FindsTwoPlacementsOfABidirectionalSchedule) {
  const Result<TokenList> list = parse_pytorch_csv("0F0,1F1,1B1,0B0\n0F1,1F0,1B0,0B1\n", "x.csv");
  ASSERT_TRUE(list) << list.error().to_string();
  EXPECT_EQ(list->placement, (std::vector<std::vector<std::int32_t>>{{0, 1}, {1, 0}}));
  EXPECT_EQ(list->copy_of, (std::vector<std::int32_t>{0, 1}));
}

TEST(PyTorchCsv, WritesAGroupAsItsPartsAndOnlyPyTorchsMarkers) {
  const Result<TokenList> list = parse_pytorch_csv(
      "0UNSHARD,0F0,{0SEND_F0;0RECV_B0}BATCH_WAIT,LOAD,0B0,0REDUCE_GRAD,OPT_STEP\n1F0,1B0\n",
      "x.csv");
  ASSERT_TRUE(list) << list.error().to_string();
  EXPECT_EQ(write_pytorch_csv(*list), "0UNSHARD,0F0,0SEND_F0,0RECV_B0,0B0,0REDUCE_GRAD\n1F0,1B0\n");
}

TEST(PyTorchCsv, NamesRankAndColumnOfAWrongCell) {
  EXPECT_EQ(error_of("0F0,0B0\n1F0,,1Z0\n"),
            "x.csv: rank 1, column 3: '1Z0' is no action; write e.g. 3F0, 3B0, 3I0, 3W0, 3SEND_F0 "
            "or (0F7;7B3)OVERLAP_F_B");
}

TEST(PyTorchCsv, RefusesNumbersThatTheListCannotHold) {
  EXPECT_EQ(error_of("0F0,2000000000B0\n"),
            "x.csv: 2 compute actions cannot run stage 2000000000 and micro-batch 0");
  EXPECT_EQ(error_of(""), "x.csv: 0 compute actions cannot run stage 0 and micro-batch 0");
}

}  // namespace
}  // namespace stagewright
