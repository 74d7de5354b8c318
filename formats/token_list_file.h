#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/schedule/token_list.h"

namespace stagewright {

/// Whether the text is meant as JSON, not as CSV.
[[nodiscard]] bool looks_like_json(std::string_view text);

/// Reads a schedule vector (JSON) or a CSV of torch.distributed.pipelining, told apart by what the
/// text holds.  Fails as the reader of that format does.
[[nodiscard]] Result<TokenList> parse_token_list(std::string_view text, std::string_view where);

}  // namespace stagewright
