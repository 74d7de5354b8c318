#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/schedule/token_list.h"

namespace stagewright {

/// Reads a schedule vector: JSON with `P`, `M`, `num_stages`, `placements` ([copy][stage] = rank),
/// `mb_placement` (micro-batch -> copy) and `ranks`, per rank its tokens (core/schedule/
/// token_list.h).  Other keys tell where the list comes from and are passed over.
/// kInvalidInput naming file, rank, place in its list and token.  That the list makes sense as a
/// schedule is not checked here.
[[nodiscard]] Result<TokenList> parse_schedule_vector(std::string_view text,
                                                      std::string_view where);

/// Writes the same format, one line a rank.  `schedule` is the name to note in it.
[[nodiscard]] std::string write_schedule_vector(const TokenList& list, std::string_view schedule);

}  // namespace stagewright
