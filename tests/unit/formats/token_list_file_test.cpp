#include "formats/token_list_file.h"

#include <string>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

std::string error_of(const std::string& text) {
  const Result<TokenList> list = parse_token_list(text, "x");
  return list ? "no error" : list.error().to_string();
}

bool read_as_json(const std::string& text) {
  const std::string error = error_of(text);
  return error.find("JSON") != std::string::npos || error.find("json") != std::string::npos;
}

TEST(TokenListFile, TellsJsonByWhatItHolds) {
  for (const std::string text : {"{}",
                                 " {\n}\n",
                                 "\xEF\xBB\xBF{}",
                                 "[]",
                                 "[[\"0F0\"]]",
                                 "null\n",
                                 "{\"a\": 1}",
                                 "{\"P\": 2,",
                                 "{P: 2}",
                                 "{"}) {
    EXPECT_TRUE(read_as_json(text)) << text << "\n" << error_of(text);
  }
  for (const std::string text : {"", "x", "0F0,0Q0\n", "7", "{0SEND_F0;1RECV_F0}BATCH,0Q0"}) {
    EXPECT_FALSE(read_as_json(text)) << text << "\n" << error_of(text);
  }
}

TEST(TokenListFile, ReadsGroupCallsThatBeginACsv) {
  const Result<TokenList> list =
      parse_token_list("{1RECV_F0}BATCH,1F0,1B0,1SEND_B0\n0F0,0SEND_F0,0RECV_B0,0B0\n", "x.csv");
  ASSERT_TRUE(list) << list.error().to_string();
  EXPECT_EQ(list->ranks.size(), 2U);
}

TEST(TokenListFile, NamesEveryKeyThatAVectorLacks) {
  EXPECT_EQ(error_of("{\"P\": 2, \"ranks\": []}"),
            "x: is JSON, but no schedule vector: it lacks M, num_stages, placements, mb_placement; "
            "read are schedule vectors (JSON with P, M, num_stages, placements, mb_placement and "
            "ranks) and CSV of torch.distributed.pipelining, as `schedules emit` writes both");
}

}  // namespace
}  // namespace stagewright
