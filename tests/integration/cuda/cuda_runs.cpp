#include "tests/integration/cuda/cuda_runs.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "nccl_worlds.h"
#include "runtime/compute/cuda_device.h"
#include "runtime/trainer/sampled_batches.h"
#include "runtime/trainer/shared_device.h"
#include "standin_library.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {

namespace {

/// The stand-in runs kernels by their names, whatever the image holds.
constexpr std::array<std::byte, 1> kAnyImage{};

class WatchedDevice final : public ComputeDevice {
 public:
  explicit WatchedDevice(std::unique_ptr<ComputeDevice> device) : device_(std::move(device)) {}

  [[nodiscard]] std::string_view name() const override { return device_->name(); }
  [[nodiscard]] Result<void> check(const Operation& operation) const override {
    return device_->check(operation);
  }
  void execute(const BoundOperation& bound, const UpdateStep& step) override {
    if (queue_ != nullptr) {
      accesses_.begin(queue_);
      touch(bound, bound.inputs, bound.input_types, false);
      touch(bound, bound.outputs, bound.output_types, true);
    }
    device_->execute(bound, step);
  }
  [[nodiscard]] std::unique_ptr<DeviceMemory> allocate(Bytes size) override {
    return device_->allocate(size);
  }
  void upload(void* to, std::span<const std::byte> from) override { device_->upload(to, from); }
  void download(std::span<std::byte> to, const void* from) override { device_->download(to, from); }
  void synchronize() override { device_->synchronize(); }
  [[nodiscard]] bool reads_back(const Operation& operation) const override {
    return device_->reads_back(operation);
  }
  [[nodiscard]] bool replays() const override { return device_->replays(); }
  void run_static(std::size_t run, const std::function<void()>& execute) override {
    device_->run_static(run, execute);
  }
  void end_step() override { device_->end_step(); }
  [[nodiscard]] std::vector<std::string> notes() const override { return device_->notes(); }
  [[nodiscard]] bool queues() const override { return device_->queues(); }
  void use_queue(void* queue) override {
    queue_ = queue;
    device_->use_queue(queue);
  }

 private:
  void touch(const BoundOperation& bound,
             std::span<void* const> operands,
             std::span<const OperandType> types,
             bool writes) const {
    const std::string what(name_of(bound.operation->kind));
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Bytes size = types[i].elements * size_of(types[i].type);
      accesses_.touch(
          queue_, operands[i], static_cast<std::size_t>(size.count()), writes, what.c_str());
    }
  }

  std::unique_ptr<ComputeDevice> device_;
  StandinAccesses accesses_ = standin_accesses();
  void* queue_ = nullptr;
};

}  // namespace

namespace {

[[nodiscard]] CudaOptions standin_options(int device, ReplayUse replay) {
  return {.device = device,
          .cuda_library = standin_cuda_file(),
          .cublas_lt_library = standin_cublas_lt_file(),
          .cudnn_library = standin_cudnn_file(),
          .image = kAnyImage,
          .gemm_workspace = Bytes(std::int64_t{1} << 16),
          .replay = replay};
}

[[nodiscard]] Result<RunReport> train_with(const Schedule& schedule,
                                           const CudaRun& run_with,
                                           RunOptions options) {
  configure_standins(run_with.standins);
  const TokenData data = learnable_tokens();
  const SampledBatches batches(data, schedule, kTrainingSeed);
  const std::vector<const Schedule*> schedule_of_rank(schedule.ranks.size(), &schedule);
  options.steps = run_with.steps;
  options.traced_steps = run_with.traced_steps;
  options.seed = kTrainingSeed;
  options.timeout = run_with.timeout;
  return run(schedule_of_rank, batches, options);
}

}  // namespace

std::unique_ptr<ComputeDevice> make_watched_cuda_device(RankId rank, ReplayUse replay) {
  auto device = make_cuda_device(standin_options(static_cast<int>(rank.value()), replay));
  if (!device) {
    throw BackendError(device.error());
  }
  return std::make_unique<WatchedDevice>(*std::move(device));
}

Result<RunReport> train_on_cuda(const Schedule& schedule, const CudaRun& run_with) {
  RunOptions options;
  options.make_world = [&run_with](const WorldSpec& spec) {
    auto world = make_nccl_worlds(spec, {.timeout = run_with.timeout});
    if (run_with.before_steps) {
      run_with.before_steps();
    }
    return world;
  };
  options.make_device = [replay = run_with.replay](RankId rank) {
    return make_watched_cuda_device(rank, replay);
  };
  return train_with(schedule, run_with, std::move(options));
}

Result<RunReport> train_on_one_device(const Schedule& schedule, const CudaRun& run_with) {
  RunOptions options;
  options.timeout = run_with.timeout;
  configure_standins(run_with.standins);
  if (auto shared = share_cuda_device(options, standin_options(0, run_with.replay)); !shared) {
    return pass_on(std::move(shared));
  }
  options.make_world = [&run_with, make = options.make_world](const WorldSpec& spec) {
    if (run_with.before_steps) {
      run_with.before_steps();
    }
    return make(spec);
  };
  return train_with(schedule, run_with, std::move(options));
}

}  // namespace stagewright
