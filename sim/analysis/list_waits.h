#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/schedule/token_list.h"
#include "sim/analysis/transfer_queues.h"

namespace stagewright {

/// Where the ranks of a list stand when none of them gets further.
struct ListStandstill {
  std::vector<std::size_t> next;  ///< [rank] place of the item that it waits at; its end: done
  std::vector<bool> called;       ///< [rank] that item is a call of transfers, and has been made
  const TransferQueues* queues = nullptr;  ///< what has been called; null: transfers are free
};

/// The cycle in which items and transfers wait for each other: "rank 0 pos 1 (0SEND_F0) waits for
/// rank 1 pos 2 (1RECV_F0), which is reached only after ...".
/// REQUIRES: no fault of coverage (list_coverage.h); a rank that is not done.
[[nodiscard]] std::string waiting_cycle(const TokenList& list, const ListStandstill& standstill);

}  // namespace stagewright
