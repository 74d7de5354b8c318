#include "cli/memory_cap.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/comma_list.h"
#include "core/base/counted.h"
#include "sim/memory/memory_timeline.h"

namespace stagewright {
namespace {

constexpr std::size_t kShown = 8;

/// A line for each of the first ranks.
template <class Excess, class Line>
std::string lines(const std::vector<Excess>& above, const Line& line) {
  if (above.empty()) {
    return "every rank keeps --memory-cap\n";
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(above.size(), kShown); ++i) {
    text += fmt::format("above --memory-cap: {}\n", line(above[i]));
  }
  if (above.size() > kShown) {
    text += fmt::format("and {} more\n",
                        counted(static_cast<std::int64_t>(above.size() - kShown), "rank"));
  }
  return text;
}

/// The first action at which a program holds more than that.
std::size_t first_above(const RankProgram& program, Bytes tensors) {
  const MemoryTimeline memory = memory_timeline(program);
  const auto first = std::ranges::find_if(
      memory.by_action, [tensors](const LiveBytes& live) { return total_of(live) > tensors; });
  return static_cast<std::size_t>(first - memory.by_action.begin());
}

}  // namespace

Result<std::vector<std::int64_t>> read_caps(std::string_view text, std::int32_t ranks) {
  std::vector<std::int64_t> caps;
  for (const std::string_view part : comma_list(text)) {
    std::int64_t cap = 0;
    const char* const end = part.data() + part.size();
    const auto [stop, error] = std::from_chars(part.data(), end, cap);
    if (error != std::errc{} || stop != end || cap < 1) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' is no count of micro-batches of a stage; write 8, or one for "
                              "each rank: 8,8,7,5",
                              part),
                  "--memory-cap");
    }
    caps.push_back(cap);
  }
  if (caps.size() == 1) {
    caps.resize(static_cast<std::size_t>(ranks), caps.front());
  }
  if (!caps.empty() && caps.size() != static_cast<std::size_t>(ranks)) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("'{}' are {} for {}; give one, or one for each",
                            text,
                            counted(static_cast<std::int64_t>(caps.size()), "cap"),
                            counted(ranks, "rank")),
                "--memory-cap");
  }
  return caps;
}

std::string to_text(const ListCaps& checked) {
  if (checked.caps.empty()) {
    return {};
  }
  return lines(checked.above, [](const CapExcess& excess) {
    return fmt::format("rank {} holds {} until W, {} more than its cap of {}, first at pos {} ({})",
                       excess.rank,
                       excess.held,
                       excess.held - excess.cap,
                       excess.cap,
                       excess.place,
                       to_string(excess.action));
  });
}

void add_caps(const ListCaps& checked, nlohmann::json& json) {
  if (checked.caps.empty()) {
    return;
  }
  nlohmann::json above = nlohmann::json::array();
  for (const CapExcess& excess : checked.above) {
    above.push_back({{"rank", excess.rank},
                     {"cap", excess.cap},
                     {"held", excess.held},
                     {"above", excess.held - excess.cap},
                     {"pos", excess.place},
                     {"action", to_string(excess.action)}});
  }
  json["memory_cap"] = {
      {"caps", checked.caps}, {"fits", checked.above.empty()}, {"above", std::move(above)}};
}

Result<DeviceCaps> check_caps(const std::string& text,
                              const Schedule& schedule,
                              const Summary& summary) {
  const auto cap = parse_bytes(text);
  if (!cap || *cap <= Bytes{}) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("'{}' is no size above 0; of a plan it is what a device may hold, as "
                            "70 GiB",
                            text),
                "--memory-cap");
  }
  DeviceCaps checked{.cap = *cap, .above = {}};
  for (const RankSummary& rank : summary.ranks) {
    if (rank.device_memory <= *cap) {
      continue;
    }
    const RankProgram& program =
        schedule.programs[schedule.ranks[rank.rank.index()].program.index()];
    // What driver and libraries take is there all the time.
    const Bytes others = rank.device_memory - rank.memory.total;
    const std::size_t place = first_above(program, *cap - others);
    checked.above.push_back({.rank = rank.rank,
                             .alike = rank.alike,
                             .held = rank.device_memory,
                             .place = static_cast<std::int32_t>(place),
                             .action = to_string(program.actions.at(place))});
  }
  return checked;
}

std::string to_text(const DeviceCaps& checked) {
  return lines(checked.above, [&checked](const DeviceExcess& excess) {
    return fmt::format("rank {}{} holds {}, {} more than {}, first in action {} ({})",
                       excess.rank.value(),
                       excess.alike > 1 ? fmt::format(" ({} alike)", excess.alike) : "",
                       to_string(excess.held),
                       to_string(excess.held - checked.cap),
                       to_string(checked.cap),
                       excess.place,
                       excess.action);
  });
}

void add_caps(const DeviceCaps& checked, nlohmann::json& json) {
  nlohmann::json above = nlohmann::json::array();
  for (const DeviceExcess& excess : checked.above) {
    above.push_back({{"rank", excess.rank.value()},
                     {"alike", excess.alike},
                     {"held_bytes", excess.held.count()},
                     {"above_bytes", (excess.held - checked.cap).count()},
                     {"pos", excess.place},
                     {"action", excess.action}});
  }
  json["memory_cap"] = {{"cap_bytes", checked.cap.count()},
                        {"fits", checked.above.empty()},
                        {"above", std::move(above)}};
}

}  // namespace stagewright
