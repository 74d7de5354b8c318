#pragma once

#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "core/base/result.h"

namespace stagewright::gui {

/// What `work` gives, which is a Result; an error about `where` with the `remedy` in it where this
/// machine's memory does not hold what it makes.  Everything that grows with a user's file or
/// search is done within it: an exception that leaves a thread would end the program.
template <class Work>
[[nodiscard]] std::invoke_result_t<Work> within_memory(const std::string& where,
                                                       const std::string& remedy,
                                                       Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kUnsupported, "does not fit in this machine's memory; " + remedy, where);
  }
}

}  // namespace stagewright::gui
