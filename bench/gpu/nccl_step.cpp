#include <fmt/format.h>

#include "core/base/file.h"
#include "curve_distance.h"
#include "steps.h"

namespace stagewright::gpu_check {

namespace {

constexpr double kTolerance = 1e-4;  // fp32 sums in NCCL's order

/// What `stagewright run --json` printed.
[[nodiscard]] Result<nlohmann::json> read_report(const std::string& file) {
  const auto text = read_file(file);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  auto report = nlohmann::json::parse(*text, nullptr, false);
  if (!report.is_object() || !report.contains("losses")) {
    return fail(ErrorCode::kInvalidInput, "the run printed no report", file);
  }
  return report;
}

/// FOLDER/PLAN.cpu.json beside FOLDER/PLAN.gpus.json.
[[nodiscard]] Result<nlohmann::json> compare(const std::string& folder, const std::string& plan) {
  const auto expected = read_report(fmt::format("{}/{}.cpu.json", folder, plan));
  if (!expected) {
    return tl::unexpected<Error>(expected.error());
  }
  const auto actual = read_report(fmt::format("{}/{}.gpus.json", folder, plan));
  if (!actual) {
    return tl::unexpected<Error>(actual.error());
  }
  const double error =
      std::max(curve_distance((*actual)["losses"], (*expected)["losses"]),
               curve_distance((*actual)["gradient_norms"], (*expected)["gradient_norms"]));
  return nlohmann::json{{"error", error}, {"passed", error <= kTolerance}};
}

}  // namespace

Result<StepResult> check_nccl(const std::string& folder, const std::vector<std::string>& plans) {
  StepResult result{.step = "nccl"};
  nlohmann::json rows = nlohmann::json::array();
  std::size_t good = 0;
  for (const std::string& plan : plans) {
    auto compared = compare(folder, plan);
    nlohmann::json row =
        compared ? *std::move(compared)
                 : nlohmann::json{{"failure", compared.error().to_string()}, {"passed", false}};
    row["plan"] = plan;
    row["tolerance"] = kTolerance;
    good += row["passed"].get<bool>() ? 1 : 0;
    rows.push_back(std::move(row));
  }
  result.status = good == plans.size() ? "passed" : "failed";
  result.summary =
      fmt::format("{} of {} plans with a process and a GPU for each rank train as on the CPU",
                  good,
                  plans.size());
  result.figures["plans"] = std::move(rows);
  return result;
}

}  // namespace stagewright::gpu_check
