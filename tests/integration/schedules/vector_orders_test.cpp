// The orders of our generators against those of the peers' own.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/schedule/token_list.h"
#include "formats/pytorch_csv.h"
#include "formats/schedule_vector.h"
#include "planner/schedules/registry.h"
#include "tests/integration/schedules/vectors.h"

namespace stagewright {
namespace {

/// Peers whose order is that of a schedule of ours, by the beginning of the vector's name.
struct Peer {
  std::string generator;
  std::map<std::string, std::int64_t> parameters{};
};
const std::map<std::string, Peer>& peers() {
  static const std::map<std::string, Peer> all{
      {"chimera_P", {"chimera"}},
      {"deepspeed_train_", {"1f1b"}},
      {"dualpipe_dualpipe_", {"dualpipe"}},
      {"dualpipe_dualpipev_", {"dualpipe-v"}},
      {"megatron_1f1b_", {"1f1b"}},
      {"megatron_interleaved_batchN5_", {"interleaved-1f1b", {{"group", 5}}}},
      {"megatron_interleaved_batchN8_", {"interleaved-1f1b", {{"group", 8}}}},
      {"megatron_interleaved_batch_", {"interleaved-1f1b"}},
      {"megatron_interleaved_moeoverlap_", {"interleaved-1f1b", {{"overlap", 1}}}},
      {"megatron_interleaved_overlap_", {"interleaved-1f1b"}},
      {"megatron_interleaved_overlapwfN3_", {"interleaved-1f1b", {{"group", 3}}}},
      {"megatron_interleaved_overlapwf_", {"interleaved-1f1b"}},
      {"torch_1f1b_exec_", {"1f1b"}},
      {"torch_dualpipev_", {"dualpipe-v"}},
      {"torch_gpipe_", {"gpipe"}},
      {"torch_interleaved1f1b_", {"interleaved-1f1b"}},
      {"torch_interleavedzb_", {"interleaved-zero-bubble"}},
      {"torch_loopedbfs_", {"looped-bfs"}},
      {"torch_zbv_", {"zb-v"}},
      {"torchgpipe_", {"gpipe", {{"reverse", 1}}}},
      {"zb_auto_zb1p_", {"zb-h1"}},
      {"zb_basic1f1b_", {"1f1b"}},
      {"zb_vpp_", {"interleaved-1f1b"}},
      {"zbh1_quickstart_", {"zb-h1-quick-start"}},
  };
  return all;
}

std::optional<Peer> peer_of(const std::string& vector) {
  for (const auto& [prefix, peer] : peers()) {
    if (vector.starts_with(prefix)) {
      return peer;
    }
  }
  return std::nullopt;
}

std::vector<std::string> vectors_of_peers() {
  std::vector<std::string> names;
  for (const std::string& name : vector_names()) {
    if (peer_of(name)) {
      names.push_back(name);
    }
  }
  return names;
}

Result<TokenList> generated(const Peer& peer, const TokenList& vector) {
  const auto ranks = static_cast<std::int32_t>(vector.ranks.size());
  const Result<ScheduleGenerator> generator = find_schedule(peer.generator);
  const Result<PipelineOrder> order = generator->generate({.ranks = ranks,
                                                           .virtual_stages = vector.stages / ranks,
                                                           .micro_batches = vector.micro_batches,
                                                           .parameters = peer.parameters});
  if (!order) {
    return tl::unexpected(order.error());
  }
  return token_list(*order);
}

class VectorOrders : public testing::TestWithParam<std::string> {};

TEST_P(VectorOrders, AreThoseOfOurGenerator) {
  const TokenList expected = compute_only(read_vector(GetParam()));
  const Result<TokenList> list = generated(*peer_of(GetParam()), expected);
  ASSERT_TRUE(list) << list.error().to_string();
  EXPECT_EQ(*list, expected);
}

INSTANTIATE_TEST_SUITE_P(Vectors,
                         VectorOrders,
                         testing::ValuesIn(vectors_of_peers()),
                         vector_test_name);

class VectorFiles : public testing::TestWithParam<std::string> {};

TEST_P(VectorFiles, AreReadAsTheyAreWritten) {
  const TokenList list = read_vector(GetParam());
  const Result<TokenList> again =
      parse_schedule_vector(write_schedule_vector(list, "again"), "again.json");
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(*again, list);
}

/// The format has neither groups nor other markers, so lists with them come back without.
TEST_P(VectorFiles, ComeBackFromPyTorchsFormat) {
  if (GetParam().find("BAD") != std::string::npos) {
    return;  // sizes are counted from the actions, and these lists lack some
  }
  const TokenList list = compute_only(read_vector(GetParam()));
  const Result<TokenList> again = parse_pytorch_csv(write_pytorch_csv(list), "again.csv");
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(*again, list);
}

/// With transfers: each call as its parts, without the markers of other programs.
TokenList as_pytorch_says_it(TokenList list) {
  for (std::vector<ListItem>& items : list.ranks) {
    std::vector<ListItem> said;
    for (const ListItem& item : items) {
      if (item.kind == ListItemKind::kTransfers) {
        for (const Action& action : item.actions) {
          said.push_back({.kind = ListItemKind::kTransfers, .actions = {action}});
        }
      } else if (item.kind == ListItemKind::kCompute || item.marker.ends_with("UNSHARD") ||
                 item.marker.ends_with("RESHARD") ||
                 (item.marker.ends_with("REDUCE_GRAD") && item.marker != "REDUCE_GRAD")) {
        said.push_back(item);
      }
    }
    items = std::move(said);
  }
  return list;
}

TEST_P(VectorFiles, ComeBackLoweredFromPyTorchsFormat) {
  if (GetParam().find("BAD") != std::string::npos) {
    return;
  }
  const TokenList list = read_vector(GetParam());
  const Result<TokenList> again = parse_pytorch_csv(write_pytorch_csv(list), "again.csv");
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(*again, as_pytorch_says_it(list));
}

INSTANTIATE_TEST_SUITE_P(Vectors, VectorFiles, testing::ValuesIn(vector_names()), vector_test_name);

}  // namespace
}  // namespace stagewright
