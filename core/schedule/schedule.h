#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/plan/optimizer.h"
#include "core/schedule/rank_program.h"

namespace stagewright {

/// Ranks that communicate collectively.
struct Group {
  std::string kind;  ///< label for reports: "tensor", "data", "world"
  std::vector<RankId> members;
  friend bool operator==(const Group&, const Group&) = default;
};

/// Which program a rank runs, and what the program's slots mean for it.
struct RankBinding {
  ProgramId program;
  DeviceId device;
  std::vector<GroupId> groups;          ///< by GroupSlot
  std::vector<std::int32_t> positions;  ///< by GroupSlot: which member of that group this rank is
  std::vector<RankId> peers;            ///< by PeerSlot
  std::int32_t replica = 0;             ///< which data slice it loads
  std::int32_t sequence_part = 0;       ///< and which part of each of its sequences
  friend bool operator==(const RankBinding&, const RankBinding&) = default;
};

/// A lowered plan: what every rank does in one optimizer step.  100,000 ranks cost what their
/// distinct programs cost, plus one binding each.
struct Schedule {
  std::string model_name;
  std::string model_hash;
  std::string schedule_name;  ///< "1f1b"
  std::int32_t stages = 1;
  std::int32_t micro_batches = 1;     ///< per replica and step
  std::int32_t micro_batch_size = 1;  ///< sequences
  std::int32_t sequence = 1;          ///< tokens
  std::int32_t replicas = 1;
  /// Into which each sequence is divided.  It is cut into twice as many equal blocks, and part p
  /// has blocks p and 2 sequence_parts - 1 - p, so that each has as much of a causal mask's
  /// triangle (as in the training of Llama 3, Llama Team 2024, section 3.3.2).  One part has all.
  std::int32_t sequence_parts = 1;
  std::vector<std::string> streams;  ///< names; [0] is "compute"
  OptimizerSpec optimizer;
  std::vector<RankProgram> programs;
  std::vector<Group> groups;
  std::vector<RankBinding> ranks;
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// Hash of the whole content.  Ranks compare it before the first step; traces carry it.
[[nodiscard]] std::string schedule_hash(const Schedule& schedule);

/// The schedule as a JSON file, and back.  Reading checks the version, every index and the stored
/// hash.
[[nodiscard]] std::string to_json_text(const Schedule& schedule);
[[nodiscard]] Result<Schedule> parse_schedule(std::string_view text, std::string_view where);

}  // namespace stagewright
