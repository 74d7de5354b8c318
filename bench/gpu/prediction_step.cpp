#include <cmath>

#include <fmt/format.h>

#include "core/base/file.h"
#include "steps.h"

namespace stagewright::gpu_check {

namespace {

constexpr double kStepGoal = 0.05;
constexpr double kMemoryGoal = 0.03;

}  // namespace

Result<StepResult> judge_prediction(const std::string& comparison_file,
                                    const StepOptions& options) {
  const auto text = read_file(comparison_file);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  const auto compared = nlohmann::json::parse(*text, nullptr, false);
  if (!compared.is_object() || !compared.contains("step") || !compared.contains("ranks")) {
    return fail(ErrorCode::kInvalidInput,
                "is no comparison; write it with `stagewright compare --json`",
                comparison_file);
  }
  const double predicted = compared["step"]["predicted_s"];
  const double measured = compared["step"]["measured_s"];
  double memory_error = 0;
  for (const auto& rank : compared["ranks"]) {
    const double real = rank["measured_memory_bytes"];
    const double thought = rank["predicted_memory_bytes"];
    memory_error = std::max(memory_error, std::abs(thought / real - 1));
  }
  const double step_error = predicted / measured - 1;
  const bool in_time = options.small || std::abs(step_error) <= kStepGoal;
  const bool good = in_time && memory_error <= kMemoryGoal;
  StepResult result{.step = "prediction", .status = good ? "passed" : "failed"};
  result.summary = fmt::format(
      "step predicted {:.2f} ms, measured {:.2f} ms ({:+.1f} %, {}); memory {:.1f} % off (goal "
      "{:.0f} %)",
      predicted * 1e3,
      measured * 1e3,
      step_error * 100,
      options.small ? "not judged at small sizes" : fmt::format("goal {:.0f} %", kStepGoal * 100),
      memory_error * 100,
      kMemoryGoal * 100);
  result.figures = {{"predicted_s", predicted},
                    {"measured_s", measured},
                    {"step_error", step_error},
                    {"memory_error", memory_error},
                    {"operations", compared.value("operations", nlohmann::json::array())}};
  return result;
}

}  // namespace stagewright::gpu_check
