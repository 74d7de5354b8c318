#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "core/schedule/rank_program.h"

namespace stagewright {

/// Whether an operation can wait for another rank, or for what waits: collectives, and whatever
/// runs beside the compute stream.
[[nodiscard]] bool is_wait_item(const Operation& op);

/// An operation, message or load as far as its waits go.
struct WaitStep {
  std::int32_t op = 0;
  const Operation* operation = nullptr;  ///< null for messages and loads
  bool is_item = false;                  ///< else the compute stream runs it
  std::vector<TensorId> reads;           ///< owners of memory, each once
  std::vector<TensorId> writes;
};

/// Which tensors a table of steps knows.
enum class WaitTensors : std::uint8_t {
  kShared,  ///< those that some item touches; steps of the compute stream without any are left out
  kAll,
};

/// The steps of a program's actions, worked out once per kind and stage or bucket.  The program
/// must outlive the table.
class WaitStepTable {
 public:
  WaitStepTable(const RankProgram& program, WaitTensors tensors);

  [[nodiscard]] const std::vector<WaitStep>& of(const Action& action);

 private:
  [[nodiscard]] std::vector<TensorId> known_among(const std::vector<TensorId>& tensors) const;
  [[nodiscard]] std::vector<WaitStep> work_out(const Action& action) const;

  const RankProgram& program_;
  WaitTensors tensors_;
  std::vector<bool> shared_;  ///< by tensor
  std::map<std::tuple<ActionKind, std::int32_t, std::int32_t>, std::vector<WaitStep>> steps_;
};

}  // namespace stagewright
