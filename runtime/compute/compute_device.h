#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/plan/optimizer.h"
#include "core/schedule/operation.h"
#include "runtime/backend_error.h"

namespace stagewright {

/// What an operand holds.
struct OperandType {
  DType type = DType::kFloat32;  ///< in memory
  std::int64_t elements = 0;
};

/// A part of what an update changes that has settings of its own.
struct UpdateRange {
  std::int64_t begin = 0;  ///< elements of the update's tensors
  std::int64_t end = 0;
  double rate = 1;                       ///< times the learning rate
  std::optional<double> weight_decay{};  ///< absent: the optimizer's, where it applies
};

/// An operation whose operands have been found.
struct BoundOperation {
  const Operation* operation = nullptr;
  std::span<void* const> inputs;   ///< in the order of OpKind
  std::span<void* const> outputs;  ///< in the order of OpKind
  std::span<const OperandType> input_types;
  std::span<const OperandType> output_types;
  std::int64_t slice_begin = 0;  ///< of Operation::slice, on this rank
  std::int64_t slice_end = 0;
  std::int64_t first_token = 0;         ///< of the micro-batch, counted through the global batch
  std::int32_t sequence_part = 0;       ///< of each sequence: which the rank sees,
  std::int32_t sequence_parts = 1;      ///< of how many
  std::span<const UpdateRange> ranges;  ///< of an update: disjoint, ascending; the rest as usual
};

/// What operations need to know of the step: what changes from one to the next, or in a run.
struct UpdateStep {
  std::int64_t number = 1;   ///< of the update, from 1: of the step, unless a step has several
  std::int64_t skipped = 0;  ///< of the steps before it: those that changed no weight
  /// Gradients hold so many times their value, and lose it again in norm and update.
  double loss_scale = 1;
  std::uint64_t seed = 0;  ///< of the run
  bool inspect = false;    ///< ends at the first result that is not a number, naming it
  OptimizerSpec optimizer;
};

/// What allocate() throws.
[[nodiscard]] BackendError out_of_memory(Bytes size);

/// A block of memory of a device.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  virtual ~DeviceMemory() = default;

  [[nodiscard]] virtual std::byte* data() = 0;
};

/// Computes: runs one operation of a stage program.  One per rank, used by the rank's thread.
/// Collectives are not its business.  Its memory is the host's unless it says otherwise.
class ComputeDevice {
 public:
  ComputeDevice() = default;
  ComputeDevice(const ComputeDevice&) = delete;
  ComputeDevice& operator=(const ComputeDevice&) = delete;
  virtual ~ComputeDevice() = default;

  /// Canonical name of the device type: "cpu".
  [[nodiscard]] virtual std::string_view name() const = 0;

  /// Whether it has a kernel: kUnsupported, naming what is missing, otherwise.
  [[nodiscard]] virtual Result<void> check(const Operation& operation) const = 0;

  /// Runs it, or puts it on the device's queue.  An update whose totals are no numbers leaves
  /// everything as it is.
  /// REQUIRES: check() passed; operands of the documented sizes, in this device's memory.
  /// Throws BackendError if the device fails.
  virtual void execute(const BoundOperation& bound, const UpdateStep& step) = 0;

  /// Zeroed, aligned to kArenaAlignment.  Throws BackendError, naming the size, where the device
  /// has not so much.
  [[nodiscard]] virtual std::unique_ptr<DeviceMemory> allocate(Bytes size);
  /// Copies in order with what execute() is given.  `from` stays as it is until synchronize() or
  /// download() returns.
  virtual void upload(void* to, std::span<const std::byte> from);
  /// The same; done when it returns, and so is everything given before.
  virtual void download(std::span<std::byte> to, const void* from);
  /// Returns when everything given so far is done.
  virtual void synchronize() {}

  /// Whether execute() waits for what was given before, since the host has to read some of it.
  [[nodiscard]] virtual bool reads_back(const Operation& operation) const;

  /// Whether run_static() does more than to call `execute`.
  [[nodiscard]] virtual bool replays() const { return false; }
  /// Runs operations that do the same in every step: `execute` gives them to this device, of which
  /// none reads_back() or looks at its UpdateStep.  Once it has, the device may do without.  `run`
  /// tells them from others.
  virtual void run_static(std::size_t run, const std::function<void()>& execute);
  /// All that was given in a step is done.
  virtual void end_step() {}
  /// How it ran what it was given, where there was a choice; one line each.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }

  /// Whether execute() returns before the operation is done.
  [[nodiscard]] virtual bool queues() const { return false; }
  /// Goes on on this queue (Stream::device_queue).  REQUIRES: queues(); synchronize() has returned
  /// since anything was given.
  virtual void use_queue(void* queue);
};

}  // namespace stagewright
