#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"
#include "core/schedule/schedule.h"
#include "sim/analysis/memory_cap.h"
#include "sim/analysis/summary.h"

namespace stagewright {

/// `--memory-cap` of a list: "8" micro-batches of a stage for all ranks, or "8,8,7,5", each held
/// until W.  Nothing of an empty text.
[[nodiscard]] Result<std::vector<std::int64_t>> read_caps(std::string_view text,
                                                          std::int32_t ranks);

/// What ranks hold against the caps of a list.
struct ListCaps {
  std::vector<std::int64_t> caps;  ///< by rank; empty: none was asked for
  std::vector<CapExcess> above;    ///< ranks that do not keep theirs
};
/// `--memory-cap` against a TokenList or a PipelineOrder.  Fails as read_caps.
template <class List>
[[nodiscard]] Result<ListCaps> check_caps(std::string_view text, const List& list) {
  auto caps = read_caps(text, static_cast<std::int32_t>(list.ranks.size()));
  if (!caps) {
    return pass_on(std::move(caps));
  }
  ListCaps checked{.caps = *std::move(caps), .above = {}};
  if (!checked.caps.empty()) {
    checked.above = above_caps(list, checked.caps);
  }
  return checked;
}
/// "rank 1 holds 9 until W, 1 more than its cap of 8, first at pos 12 (0F8)", a line each; or that
/// all keep theirs; empty without caps.
[[nodiscard]] std::string to_text(const ListCaps& checked);
/// Adds "memory_cap": {"caps", "fits", "above": [{"rank", "cap", "held", "above", "pos",
/// "action"}]}, or nothing without caps.
void add_caps(const ListCaps& checked, nlohmann::json& json);

/// A rank of a plan whose device holds more than `--memory-cap`.
struct DeviceExcess {
  RankId rank;
  std::int32_t alike = 1;  ///< ranks that it stands for
  Bytes held{};            ///< at its peak, with what driver and libraries take
  std::int32_t place = 0;  ///< in its list, from 0: the first action above the cap
  std::string action;
};
/// What the devices of a plan hold against a cap of bytes each.
struct DeviceCaps {
  Bytes cap{};
  std::vector<DeviceExcess> above;
};
/// Fails naming `--memory-cap` where the text is no size as "70 GiB".
[[nodiscard]] Result<DeviceCaps> check_caps(const std::string& text,
                                            const Schedule& schedule,
                                            const Summary& summary);
[[nodiscard]] std::string to_text(const DeviceCaps& checked);
/// Adds "memory_cap": {"cap_bytes", "fits", "above": [{"rank", "alike", "held_bytes",
/// "above_bytes", "pos", "action"}]}.
void add_caps(const DeviceCaps& checked, nlohmann::json& json);

}  // namespace stagewright
