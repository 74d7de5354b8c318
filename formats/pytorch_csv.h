#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/schedule/token_list.h"

namespace stagewright {

/// Reads a schedule file of torch.distributed.pipelining (`_PipelineScheduleRuntime._load_csv`), a
/// line a rank and a cell an action, compute-only or lowered with SEND and RECV.  An empty cell is
/// an idle place and skipped; a cell may stand in a pair of quotes.  The file names no sizes:
/// stages and micro-batches are counted from the highest index, and a stage lies where its forward
/// stands (two placements where micro-batches run their stages on different ranks, as in
/// bidirectional schedules).  A mark of UTF-8 at the front and line ends of either kind do not
/// matter.  Files of older versions, which write BW for a whole backward and B for its input half,
/// are told by their having BW, or W without I. kInvalidInput naming file, rank, column (from 1)
/// and token.
[[nodiscard]] Result<TokenList> parse_pytorch_csv(std::string_view text, std::string_view where);

/// Writes that format.  A group call is written as its parts in order, since the format has none,
/// and only those markers that the format has (UNSHARD, RESHARD, REDUCE_GRAD of a stage).
[[nodiscard]] std::string write_pytorch_csv(const TokenList& list);

}  // namespace stagewright
