#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/schedule/action.h"
#include "core/schedule/pipeline_order.h"

namespace stagewright {

enum class ListItemKind : std::uint8_t {
  kCompute,    ///< one action, or an overlapped forward and backward
  kTransfers,  ///< sends and receives that start in one call
  kMarker,     ///< anything that neither computes nor moves a border tensor: "0UNSHARD", "LOAD"
};

/// What stands at one place of a rank's list.
struct ListItem {
  ListItemKind kind = ListItemKind::kCompute;
  std::vector<Action> actions;  ///< one or two to compute, one or more to transfer; no peers
  bool grouped = false;         ///< transfers: written as a group call, also if of one
  bool awaited = false;         ///< transfers: nothing is computed before all of them end
  std::string marker;
  friend bool operator==(const ListItem&, const ListItem&) = default;
};

/// A schedule as other programs write it: per rank a list of tokens, with or without transfers.
/// Nothing is known to hold of it before it is checked (sim/analysis/order_check.h).
struct TokenList {
  std::int32_t stages = 1;
  std::int32_t micro_batches = 1;
  std::vector<std::vector<std::int32_t>> placement;  ///< [copy][stage] = rank
  std::vector<std::int32_t> copy_of;                 ///< micro-batch -> copy, for every one
  std::vector<std::vector<ListItem>> ranks;
  friend bool operator==(const TokenList&, const TokenList&) = default;

  /// The rank that holds a stage for a micro-batch.  REQUIRES: both in range.
  [[nodiscard]] std::int32_t rank_of(StageId stage, MicroBatchId micro_batch) const {
    return placement[static_cast<std::size_t>(copy_of[micro_batch.index()])][stage.index()];
  }
  [[nodiscard]] bool has_transfers() const;
};

/// Which names are markers.
enum class MarkerRule : std::uint8_t {
  kKnown,  ///< is_known_marker
  kAny,    ///< and other names of four letters or more that have nothing of a transfer's
};

/// Reads one token: "3F0" (F, B, I, W, R), "(0F7;7B3)OVERLAP_F_B" (one forward and one B or I),
/// "2SEND_F1" (also RECV_F, SEND_B, RECV_B), "{0SEND_F0;1RECV_F2}BATCH" (also BATCH_WAIT), or a
/// marker, a name in capitals and underscores with a number before it or not.  Nothing if it is
/// none of these.
[[nodiscard]] std::optional<ListItem> parse_list_item(std::string_view token,
                                                      MarkerRule markers = MarkerRule::kKnown);
/// Why a token that parse_list_item does not take is none, with examples of others: "pairs ...".
[[nodiscard]] std::string token_complaint(std::string_view token);
/// What the field's lists have besides computing and moving border tensors: of a stage UNSHARD,
/// RESHARD, REDUCE_GRAD and SYNC_GRAD, of a rank LOAD, REDUCE_GRAD, REDUCE_TIED_GRADS, OPT_STEP.
[[nodiscard]] bool is_known_marker(std::string_view token);
[[nodiscard]] std::string to_string(const ListItem& item);

/// The list of a generated order.
[[nodiscard]] TokenList token_list(const PipelineOrder& order);
/// Without transfers and markers.
[[nodiscard]] TokenList compute_only(TokenList list);

}  // namespace stagewright
