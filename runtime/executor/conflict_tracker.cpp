#include "runtime/executor/conflict_tracker.h"

#include <algorithm>
#include <optional>

#include "core/base/check.h"

namespace stagewright {

ConflictTracker::ConflictTracker(std::span<const OperandPlace> operands, std::size_t lanes)
    : lanes_(lanes) {
  borders_.reserve(2 * operands.size());
  for (const OperandPlace& operand : operands) {
    borders_.push_back(operand.offset);
    borders_.push_back(operand.offset + operand.bytes);
  }
  std::sort(borders_.begin(), borders_.end());
  borders_.erase(std::unique(borders_.begin(), borders_.end()), borders_.end());
  pieces_.resize(borders_.empty() ? 0 : borders_.size() - 1);
}

std::span<ConflictTracker::Piece> ConflictTracker::pieces_of(const OperandPlace& operand) {
  const auto first = std::lower_bound(borders_.begin(), borders_.end(), operand.offset);
  const auto last = std::lower_bound(first, borders_.end(), operand.offset + operand.bytes);
  SW_CHECK(last != borders_.end() && *first == operand.offset, "an operand that was announced");
  return {pieces_.data() + (first - borders_.begin()), static_cast<std::size_t>(last - first)};
}

std::vector<std::int32_t> ConflictTracker::add(std::int32_t instruction,
                                               LaneId lane,
                                               std::span<const OperandPlace> reads,
                                               std::span<const OperandPlace> writes) {
  std::vector<std::optional<std::int32_t>> latest(lanes_);
  const auto wait_for = [&](const Access& access) {
    std::optional<std::int32_t>& of_lane = latest[access.lane.index()];
    if (access.lane != lane && (!of_lane || *of_lane < access.instruction)) {
      of_lane = access.instruction;
    }
  };
  for (const OperandPlace& read : reads) {
    for (Piece& piece : pieces_of(read)) {
      std::for_each(piece.writers.begin(), piece.writers.end(), wait_for);
      const auto mine = std::find_if(piece.readers.begin(),
                                     piece.readers.end(),
                                     [&](const Access& access) { return access.lane == lane; });
      if (mine == piece.readers.end()) {
        piece.readers.push_back({instruction, lane});
      } else {
        mine->instruction = instruction;
      }
    }
  }
  for (const OperandPlace& write : writes) {
    for (Piece& piece : pieces_of(write)) {
      std::for_each(piece.writers.begin(), piece.writers.end(), wait_for);
      std::for_each(piece.readers.begin(), piece.readers.end(), wait_for);
      piece.writers.assign(1, {instruction, lane});
      piece.readers.clear();
    }
  }
  std::vector<std::int32_t> waits;
  for (const std::optional<std::int32_t>& of_lane : latest) {
    if (of_lane) {
      waits.push_back(*of_lane);
    }
  }
  std::sort(waits.begin(), waits.end());
  return waits;
}

}  // namespace stagewright
