#include <fmt/format.h>

#include "checked_models.h"
#include "core/base/data_files.h"
#include "core/cluster/cluster.h"
#include "runtime/libraries/cuda_devices.h"
#include "runtime/trainer/random_tokens.h"
#include "runtime/trainer/shared_device.h"
#include "runtime/trainer/trainer.h"
#include "sim/analysis/order_statistics.h"
#include "steps.h"

namespace stagewright::gpu_check {

namespace {

/// Until what is replayed as graphs has been measured and chosen.
constexpr std::int32_t kWarmUp = 9;

struct Timed {
  const char* name;
  bool llama;
  ModelSizes sizes;
  std::int32_t micro_batch_size;
  std::int32_t steps;  ///< after those to warm up
};

/// The same models and batches as scripts/gpu_check_torch.py.
[[nodiscard]] Timed timed(const std::string& model, bool small) {
  Timed of = model == "llama-like"
                 ? Timed{"llama-like", true, {8, 2048, 16, 8, 5632, 32000, 2048}, 4, 6}
                 : Timed{"gpt2-350m-like", false, {24, 1024, 16, 16, 4096, 50257, 1024}, 8, 6};
  if (small) {
    of.sizes = {2, 16, 4, of.llama ? 2 : 4, 32, 61, 8};
    of.micro_batch_size = 1;
    of.steps = 2;
  }
  return of;
}

/// Of forward and backward of a step without recomputation.
[[nodiscard]] double flops_of_step(const Schedule& schedule) {
  double flops = 0;
  for (const StageProgram& stage : schedule.programs.front().stages) {
    for (const auto* part : {&stage.forward, &stage.backward}) {
      for (const Operation& operation : *part) {
        flops += static_cast<double>(flops_of(operation).count());
      }
    }
  }
  return flops * schedule.micro_batches;
}

/// In bf16, where the device's type is known.
[[nodiscard]] std::optional<double> peak_of(const std::string& device) {
  const auto type = find_device(DataFiles::embedded(), device);
  if (!type) {
    return std::nullopt;
  }
  const auto peak = type->peak.find(DType::kBFloat16);
  return peak == type->peak.end() ? std::nullopt
                                  : std::optional(static_cast<double>(peak->second.count()));
}

}  // namespace

std::vector<std::string> timed_models() {
  return {"gpt2-350m-like", "llama-like"};
}

Result<StepResult> time_model(const std::string& model, const StepOptions& options) {
  const auto machine = find_cuda_machine();
  if (!machine) {
    return tl::unexpected<Error>(machine.error());
  }
  const Timed of = timed(model, options.small);
  auto graph = of.llama ? llama_model(of.sizes) : gpt_model(of.sizes);
  if (!graph) {
    return pass_on(std::move(graph));
  }
  const auto schedule = lower_for_check(
      *graph, {.precision = DType::kBFloat16, .micro_batch_size = of.micro_batch_size});
  if (!schedule) {
    return tl::unexpected<Error>(schedule.error());
  }
  RunOptions run_options;
  run_options.steps = kWarmUp + of.steps;
  run_options.traced_steps = 0;
  if (auto shared = share_cuda_device(run_options); !shared) {
    return pass_on(std::move(shared));
  }
  const std::vector<const Schedule*> ranks = {&*schedule};
  const auto ran = run(ranks, RandomTokens(of.sizes.vocabulary, 1), run_options);
  if (!ran) {
    return tl::unexpected<Error>(ran.error());
  }
  std::vector<Duration> times(ran->trace.step_times.begin() + kWarmUp, ran->trace.step_times.end());
  const double seconds = to_seconds(median(std::move(times)));
  const double flops = flops_of_step(*schedule);
  const std::string& device = machine->devices.front().name;
  const auto peak = peak_of(device);
  StepResult result{.step = "speed-" + model, .status = "passed"};
  result.summary = fmt::format("{:.1f} ms a step, {:.1f} TFLOP/s, {}",
                               seconds * 1e3,
                               flops / seconds / 1e12,
                               peak ? fmt::format("MFU {:.1f} %", 100 * flops / seconds / *peak)
                                    : "MFU not known: no type has the name " + device);
  result.figures = {{"model", model},
                    {"step_s", seconds},
                    {"tokens_per_s", static_cast<double>(ran->trace.tokens_per_step) / seconds},
                    {"flops_per_step", flops},
                    {"tflops", flops / seconds / 1e12},
                    {"mfu", peak ? nlohmann::json(flops / seconds / *peak) : nlohmann::json()},
                    {"memory_bytes", ran->memory.front().total.count()},
                    {"loss", ran->trace.losses.back()},
                    {"device_notes", ran->device_notes}};
  for (const std::string& note : ran->device_notes) {
    result.summary += "; " + note;
  }
  return result;
}

}  // namespace stagewright::gpu_check
