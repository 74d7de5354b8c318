#include "formats/pytorch_csv.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "tests/support/case_files.h"

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

TEST(PyTorchCsv, PlacesAStageWhereItsFirstForwardStands) {
  const Result<TokenList> list = parse_pytorch_csv("0F0,0B0\n1F0,1B0,0F0\n", "x.csv");
  ASSERT_TRUE(list) << list.error().to_string();
  EXPECT_EQ(list->placement, (std::vector<std::vector<std::int32_t>>{{0, 1}}));
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
            "x.csv: rank 1, column 3: '1Z0' is no action; write e.g. 3F0, 3B0, 3I0, 3W0, "
            "3SEND_F0, (0F7;7B3)OVERLAP_F_B or {0SEND_F0;1RECV_F2}BATCH");
}

TEST(PyTorchCsv, LetsNothingButKnownMarkersThrough) {
  for (const char* cell : {"0FF",
                           "0FF1",
                           "0X3",
                           "FORWARD",
                           "0SEND",
                           "0SENDF1",
                           "0BATCH",
                           "3OVERLAP_F_B",
                           "0UNSHAR",
                           "UNSHARD",
                           "0OFFLOAD"}) {
    const std::string error = error_of(std::string("0F0,") + cell + ",0B0\n");
    EXPECT_TRUE(error.starts_with(std::string("x.csv: rank 0, column 2: '") + cell +
                                  "' is no action; write "))
        << error;
  }
}

TEST(PyTorchCsv, PairsOneForwardWithOneBackward) {
  for (const char* cell : {"(0F1;0F2)OVERLAP_F_B",
                           "(0B1;0B2)OVERLAP_F_B",
                           "(0I1;0B2)OVERLAP_F_B",
                           "(0F1;0W0)OVERLAP_F_B",
                           "(0F1;0R0)OVERLAP_F_B",
                           "(0F1)OVERLAP_F_B",
                           "(0F1;0B0;0B2)OVERLAP_F_B",
                           "()OVERLAP_F_B"}) {
    EXPECT_EQ(error_of(std::string("0F0\n0B0,,") + cell + "\n"),
              std::string("x.csv: rank 1, column 3: '") + cell +
                  "' pairs something else than one forward and one backward (B or I); write e.g. "
                  "(0F7;7B3)OVERLAP_F_B");
  }
  EXPECT_EQ(error_of("0F0,(0F1;0I0)OVERLAP_F_B,0W0,0B1\n"), "no error");
}

TEST(PyTorchCsv, WantsBothQuotesOfACell) {
  for (const char* cell : {"\"0F0", "0F0\"", "\"", "0\"F0", "\"\"0F0\"\""}) {
    EXPECT_EQ(error_of(std::string(cell) + ",0B0\n"),
              std::string("x.csv: rank 0, column 1: '") + cell +
                  "' has a quote without its other one; quote a whole cell or nothing");
  }
  // A comma does not stand inside a cell.
  EXPECT_NE(error_of("\"0F0,0B0\"\n"), "no error");
}

TEST(PyTorchCsv, RefusesNumbersThatTheListCannotHold) {
  EXPECT_EQ(error_of("0F0,2000000000B0\n"),
            "x.csv: rank 0: '2000000000B0' cannot be right: all 2 compute actions of the file run "
            "fewer stages and micro-batches; check its numbers");
  EXPECT_EQ(error_of("0F0\n1F0,0B99999999999\n"),
            "x.csv: rank 1, column 2: '0B99999999999' is no action; write e.g. 3F0, 3B0, 3I0, 3W0, "
            "3SEND_F0, (0F7;7B3)OVERLAP_F_B or {0SEND_F0;1RECV_F2}BATCH");
}

TEST(PyTorchCsv, RefusesFilesWithoutActions) {
  const std::string message =
      "x.csv: holds no action that computes; a schedule has a line for each rank, as "
      "0F0,0F1,0B0,0B1";
  EXPECT_EQ(error_of(""), message);
  EXPECT_EQ(error_of(",,,\n\r\n"), message);
  EXPECT_EQ(error_of("0UNSHARD,0SEND_F0\n"), message);
}

TEST(PyTorchCsv, ShowsBytesThatAreNoText) {
  EXPECT_EQ(error_of(std::string("\x7f"
                                 "ELF\x00\x01,0F0",
                                 10)),
            "x.csv: rank 0, column 1: '\\x7fELF\\x00\\x01' is no action; write e.g. 3F0, 3B0, 3I0, "
            "3W0, 3SEND_F0, (0F7;7B3)OVERLAP_F_B or {0SEND_F0;1RECV_F2}BATCH");
  const std::string longest(100'000, 'x');
  EXPECT_LT(error_of(longest).size(), 300U);
}

TEST(PyTorchCsv, TakesWhatSpreadsheetsDoToIt) {
  const Result<TokenList> plain = parse_pytorch_csv("0F0,0B0\n1F0,1B0\n", "x.csv");
  ASSERT_TRUE(plain);
  for (const char* text : {"\xEF\xBB\xBF"
                           "0F0,0B0\n1F0,1B0",
                           "0F0,0B0,\r\n1F0,1B0,,,\r\n,,\r\n",
                           "\"0F0\" , \"0B0\"\n\t1F0,1B0\n\n\n"}) {
    const Result<TokenList> list = parse_pytorch_csv(text, "x.csv");
    ASSERT_TRUE(list) << list.error().to_string();
    EXPECT_EQ(*list, *plain) << text;
  }
}

TEST(PyTorchCsv, ReadsTheLettersOfOlderVersions) {
  const auto rewritten = [](const char* text) {
    const Result<TokenList> list = parse_pytorch_csv(text, "x.csv");
    return list ? write_pytorch_csv(*list) : list.error().to_string();
  };
  EXPECT_EQ(rewritten("0F0,0B0,0W0\n1F0,1B0,1W0\n"), "0F0,0I0,0W0\n1F0,1I0,1W0\n");
  EXPECT_EQ(rewritten("0F0,0BW0\n1F0,1B0,1W0\n"), "0F0,0B0\n1F0,1I0,1W0\n");
  // Today's letters: I and W, B for both.
  EXPECT_EQ(rewritten("0F0,0B0\n1F0,1I0,1W0\n"), "0F0,0B0\n1F0,1I0,1W0\n");
  // A weight half beside whole backwards is one too many, not a sign of older letters.
  EXPECT_EQ(rewritten("0F0,0B0,0F1,0B1,0W0\n"), "0F0,0B0,0F1,0B1,0W0\n");
  // In older letters a B without its W stays an input half, whose weight half is missing.
  EXPECT_EQ(rewritten("0F0,0BW0,0F1,0B1\n"), "0F0,0B0,0F1,0I1\n");
  // Only the cell that says BW is whole, also where its micro-batch has halves besides.
  EXPECT_EQ(rewritten("0F0,0B0,0W0,0BW0\n"), "0F0,0I0,0W0,0B0\n");
  EXPECT_EQ(
      rewritten("0F0,0BX0\n"),
      "x.csv: rank 0, column 2: '0BX0' is no action; write e.g. 3F0, 3B0, 3I0, 3W0, 3SEND_F0, "
      "(0F7;7B3)OVERLAP_F_B or {0SEND_F0;1RECV_F2}BATCH");
}

TEST(PyTorchCsv, ReadsPyTorchsOwnFiles) {
  const auto folder = case_files();
  if (!folder) {
    GTEST_SKIP() << "the case files are not there; set STAGEWRIGHT_CASE_FILES";
  }
  const std::string prefix = "pytorch_zb1p_2rank_2stagep_";
  for (const std::string& name : {prefix + "compute.csv",
                                  prefix + "comms.csv",
                                  std::string("torchtitan_custom_schedule.csv")}) {
    const auto text = read_file(*folder / "pp_schedule_csv" / name);
    ASSERT_TRUE(text) << text.error().to_string();
    const Result<TokenList> list = parse_pytorch_csv(*text, name);
    ASSERT_TRUE(list) << list.error().to_string();
    EXPECT_EQ(list->stages, 4);
    EXPECT_EQ(list->micro_batches, 8);
    EXPECT_EQ(list->placement, (std::vector<std::vector<std::int32_t>>{{0, 1, 0, 1}}));
    EXPECT_EQ(list->has_transfers(), name == prefix + "comms.csv");
    EXPECT_EQ(parse_pytorch_csv(write_pytorch_csv(*list), name), *list);
  }
}

}  // namespace
}  // namespace stagewright
