#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/schedule/schedule.h"
#include "runtime/compute/compute_device.h"
#include "runtime/compute/cuda_device.h"
#include "runtime/trainer/trainer.h"
#include "tests/standins/standins.h"

namespace stagewright {

/// A CUDA device over the stand-ins whose operations say what they touch, so that a stream that
/// does not wait for another is a problem even where the data come out right.
[[nodiscard]] std::unique_ptr<ComputeDevice> make_watched_cuda_device(RankId rank,
                                                                      ReplayUse replay);

struct CudaRun {
  std::int32_t steps = 3;
  Duration timeout = std::chrono::seconds(30);
  StandinOptions standins;
  /// In a traced step operations have times of their own, and so none is replayed.
  std::optional<std::int32_t> traced_steps = 0;
  ReplayUse replay = ReplayUse::kAlways;
  /// Called when the world stands, before the first step: here faults are injected.
  std::function<void()> before_steps;
};

/// Trains on learnable_tokens(), every rank with a CUDA device and NCCL of its own over the
/// stand-ins.
[[nodiscard]] Result<RunReport> train_on_cuda(const Schedule& schedule, const CudaRun& run);

/// The same with all ranks on one device, moved by copies and kernels of that device.
[[nodiscard]] Result<RunReport> train_on_one_device(const Schedule& schedule, const CudaRun& run);

}  // namespace stagewright
