#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "core/schedule/schedule.h"

namespace stagewright {

/// What is wrong in a schedule: a JSON pointer to the place, and the complaint.
struct Wrong {
  std::string place;
  std::string message;
};

/// How many slots of each sort a program needs from its ranks.
struct SlotUse {
  std::size_t groups = 0;
  std::size_t peers = 0;
};

/// The first wrong index or size of a program (indices.h), or nothing and `slots` filled in.
[[nodiscard]] std::optional<Wrong> check_program_indices(const Schedule& schedule,
                                                         ProgramId program,
                                                         SlotUse& slots);

template <class Tag, class Table>
[[nodiscard]] bool lies_in(Id<Tag> id, const Table& table) {
  return id.value() >= 0 && id.index() < table.size();
}

/// An index beyond a table of `size` entries.
[[nodiscard]] Wrong outside(std::string place,
                            std::string_view what,
                            std::int64_t index,
                            std::size_t size);

}  // namespace stagewright
