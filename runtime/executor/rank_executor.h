#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/schedule/schedule.h"
#include "runtime/comm/world.h"
#include "runtime/compute/compute_device.h"
#include "runtime/executor/action_ranges.h"
#include "runtime/executor/memory_meter.h"
#include "runtime/executor/micro_batch_source.h"
#include "runtime/executor/parameter_groups.h"
#include "runtime/executor/rank_plan.h"
#include "runtime/executor/step_record.h"

namespace stagewright {

/// Sums over the whole step and all ranks.
struct StepTotals {
  double squared_norm = 0;  ///< of the gradient, before clipping
  double loss = 0;          ///< mean over the step's tokens
};

/// Runs a rank's list by the rules of core/schedule/semantics.h.  The calling thread is the compute
/// stream: it runs one operation after the other.  Communication is posted ahead of it, as far as
/// rule 4 allows, and an operation waits only for what it depends on.
///
/// Where the device computes on a queue that the communicators know (Stream::device_queue), the
/// thread only gives it the list: events of the device keep the order, and the host waits at the
/// end of the step.
///
/// Used by one thread.  Everything throws BackendError when the device, a peer or the world fails,
/// naming rank, action and peer.
class RankExecutor {
 public:
  /// Takes the memory of the plan and initialises the weights.  All arguments but the groups must
  /// outlive it; `plan` is of `schedule` and of the endpoint's rank.
  RankExecutor(const Schedule& schedule,
               const RankPlan& plan,
               Endpoint& endpoint,
               ComputeDevice& device,
               std::uint64_t seed,
               std::span<const ParameterGroup> groups = {});

  /// One optimizer step.  Returns the totals where the program has them.  `record` may be null.
  std::optional<StepTotals> step(const UpdateStep& constants,
                                 const MicroBatchSource& source,
                                 StepRecord* record);

  [[nodiscard]] const RankPlan& plan() const { return plan_; }
  /// High-water marks since construction.
  [[nodiscard]] const MemoryPeaks& memory_peaks() const { return meter_.peaks(); }
  /// The instructions of the last step in the order in which each lane took them up.
  [[nodiscard]] std::span<const std::vector<std::int32_t>> lane_logs() const { return lane_logs_; }
  /// Content of a persistent tensor, for tests and checkpoints; between steps it may be changed.
  /// REQUIRES: the device's memory is the host's.
  [[nodiscard]] std::span<float> persistent(TensorId tensor);
  /// Copies elements of a persistent tensor, as they are stored, from the device: those from
  /// `first` on, as many as `to` has room for.
  void read_persistent(TensorId tensor, std::int64_t first, std::span<std::byte> to);

 private:
  struct Pointers {
    std::vector<void*> inputs;
    std::vector<void*> outputs;
    std::vector<OperandType> input_types;
    std::vector<OperandType> output_types;
  };

  /// Instructions of the compute lane from one to before another.
  struct Run {
    std::size_t first = 0;
    std::size_t end = 0;
    [[nodiscard]] std::size_t last() const { return end - 1; }
  };

  void find_pointers();
  void find_order();
  void initialize_masters();
  void begin_step(StepRecord* record);
  void run_list(const UpdateStep& constants, const MicroBatchSource& source);
  void end_step(StepRecord* record);
  /// Behind the last instruction that is run together with this one.
  [[nodiscard]] std::size_t end_of_run(std::size_t index, const UpdateStep& constants) const;
  [[nodiscard]] bool is_static_run(std::size_t index, const UpdateStep& constants) const;
  void run_on_host(Run run, const UpdateStep& constants, const MicroBatchSource&);
  void run_on_queue(Run run, const UpdateStep& constants, const MicroBatchSource&);
  void load_or_compute(Run run, const UpdateStep& constants, const MicroBatchSource&);
  void compute(std::size_t index, const UpdateStep& constants);
  void load(std::size_t index, const MicroBatchSource& source);
  /// Returns when the device has done what it was given.
  void wait_for_device();
  /// Of what run_on_queue() gave the device.
  void read_device_times();
  [[nodiscard]] bool on_queue() const {
    const auto& compute = streams_[kComputeLane.index()];
    return compute != nullptr && compute->device_queue() != nullptr;
  }
  /// Of the instruction's micro-batch, counted through the global batch.
  [[nodiscard]] std::int64_t first_token_of(const Instruction& instruction) const;
  /// Whether an update must not happen: it does not wait for the step's totals, and this rank's own
  /// gradients are no numbers.
  [[nodiscard]] bool is_hopeless(const Instruction& instruction) const;
  void account(const Instruction& instruction, bool after);

  /// Issues the communication that stands before instruction `index`.
  void post_before(std::size_t index);
  /// Issues communication of the next few actions, up to a send that has to wait (rule 4).
  void post_ahead(std::size_t index);
  void post_next();
  [[nodiscard]] Event post(std::size_t index);
  Event post_transfer(const Instruction& instruction,
                      const Pointers& pointers,
                      Stream& stream,
                      const Event& after);
  [[nodiscard]] Event event_of(std::size_t index);
  /// Waits for communication, issuing what may have to be issued for it to happen.
  void wait_for(std::size_t index);
  /// Lets the device's queue go on only after communication, issuing what may have to be issued.
  void begin_after(std::size_t index);
  void await(std::size_t index);
  [[nodiscard]] bool may_post_while_waiting() const;
  void read_totals();
  [[nodiscard]] Error in_context(const Error& error) const;

  const Schedule& schedule_;
  const RankBinding& binding_;
  const RankPlan& plan_;
  Endpoint& endpoint_;
  ComputeDevice& device_;
  std::unique_ptr<DeviceMemory> arena_;
  MemoryMeter meter_;
  ActionRanges ranges_;
  std::vector<Pointers> pointers_;                        ///< by instruction
  std::vector<std::vector<UpdateRange>> update_ranges_;   ///< by instruction
  std::vector<std::unique_ptr<Stream>> streams_;          ///< by lane; none for the compute lane
  std::vector<std::size_t> communication_;                ///< indices of what is posted, in order
  std::vector<std::optional<std::size_t>> earlier_send_;  ///< by instruction: rule 4
  /// By instruction: the last of the compute lane that must be done before it can be.
  std::vector<std::size_t> needs_;
  std::vector<std::string> labels_;       ///< by instruction that communication waits for
  std::vector<std::size_t> static_runs_;  ///< by instruction, where the device replays
  /// By kLoad: its tensors on the host, until the device has them.
  std::vector<std::vector<std::vector<std::int32_t>>> loaded_;
  bool hopeless_updates_ = false;  ///< some update does not wait for the step's totals

  // The step that is running.
  StepRecord* record_ = nullptr;
  std::int64_t step_number_ = 0;
  std::size_t next_ = 0;       ///< instruction of the compute lane to run
  std::size_t next_post_ = 0;  ///< into communication_
  std::size_t at_ = 0;         ///< instruction that the rank is at, for messages
  std::optional<std::size_t> awaited_;
  std::vector<Event> events_;  ///< by instruction
  std::vector<Event> begun_;   ///< by instruction of the device's queue, while times are recorded
  std::vector<std::unique_ptr<EventSource>> finished_;  ///< by instruction, where one waits for it
  std::vector<std::vector<std::int32_t>> lane_logs_;
  std::optional<StepTotals> totals_;
  bool own_norm_finite_ = true;  ///< of the gradients whose squares have been added
};

}  // namespace stagewright
