#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace stagewright {

/// Adds the entries of "traceEvents", a list of objects, to the events and memory of `trace`.
/// Strict: unknown and absent keys are errors that name the entry and the key.  Entries are many,
/// so each is read in one pass over its keys.
[[nodiscard]] Result<void> read_chrome_entries(const nlohmann::json& entries,
                                               std::string_view where,
                                               Trace& trace);

}  // namespace stagewright
