#pragma once

#include <string>
#include <vector>

#include "step_result.h"

namespace stagewright::gpu_check {

/// Sizes for a GPU, or small ones, with which a CPU ends in seconds.
struct StepOptions {
  bool small = false;
};

/// The devices, their libraries, drivers and clocks.
[[nodiscard]] Result<StepResult> describe_machine();
/// Every kernel of the first device against double precision.
[[nodiscard]] Result<StepResult> check_kernels(const StepOptions& options);
/// Losses and gradient norms of plans on the first device, of one rank and of several that share
/// it, against the CPU's.
[[nodiscard]] Result<StepResult> check_losses(const StepOptions& options);

/// Runs of plans with a process for each rank, over NCCL, against the CPU's: what `stagewright run
/// --json` printed, in FOLDER/PLAN.gpus.json and FOLDER/PLAN.cpu.json.
[[nodiscard]] Result<StepResult> check_nccl(const std::string& folder,
                                            const std::vector<std::string>& plans);

/// A model to time: "gpt2-350m-like" or "llama-like".
[[nodiscard]] std::vector<std::string> timed_models();
/// Steps a second, TFLOP/s and MFU of one model in bf16 on the first device.
[[nodiscard]] Result<StepResult> time_model(const std::string& model, const StepOptions& options);

/// What `stagewright compare --json` said of a prediction for the first device; at small sizes,
/// where a step is over before a clock can tell, of memory alone.
[[nodiscard]] Result<StepResult> judge_prediction(const std::string& comparison_file,
                                                  const StepOptions& options);

/// Writes FOLDER's steps as one JSON and one Markdown file of `out`, named after the date and the
/// device, and returns the latter's path; `expected` steps without a file did not run.
[[nodiscard]] Result<std::string> write_report(const std::string& folder,
                                               const std::vector<std::string>& expected,
                                               const std::string& out);

}  // namespace stagewright::gpu_check
