#include "cli/memory_report.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace stagewright {
namespace {

constexpr double kShownShare = 0.01;  // share of the sum below which a line leaves a term out

}  // namespace

nlohmann::ordered_json to_json(const StageMemory& memory) {
  nlohmann::ordered_json terms;
  for (std::size_t i = 0; i < kMemoryTermCount; ++i) {
    if (memory.terms[i] != Bytes{}) {
      terms[std::string(name_of(static_cast<MemoryTerm>(i)))] = memory.terms[i].count();
    }
  }
  return {{"stage", memory.stage},
          {"moment", name_of(memory.moment)},
          {"terms_bytes", std::move(terms)},
          {"allocated_bytes", memory.seen_as(MemoryView::kAllocated).count()},
          {"reserved_bytes", memory.seen_as(MemoryView::kReserved).count()},
          {"driver_bytes", memory.seen_as(MemoryView::kDriver).count()}};
}

std::string to_line(const StageMemory& memory) {
  std::vector<std::size_t> order;
  const Bytes sum = memory.seen_as(MemoryView::kDriver);
  for (std::size_t i = 0; i < kMemoryTermCount; ++i) {
    if (memory.terms[i] / sum >= kShownShare) {
      order.push_back(i);
    }
  }
  std::ranges::stable_sort(
      order, std::greater<>(), [&memory](std::size_t i) { return memory.terms[i]; });
  std::string line;
  for (const std::size_t i : order) {
    line += fmt::format("{}{} {}",
                        line.empty() ? "" : ", ",
                        name_of(static_cast<MemoryTerm>(i)),
                        to_string(memory.terms[i]));
  }
  return line;
}

}  // namespace stagewright
