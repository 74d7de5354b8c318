#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "checked_models.h"
#include "curve_distance.h"
#include "runtime/trainer/random_tokens.h"
#include "runtime/trainer/shared_device.h"
#include "runtime/trainer/trainer.h"
#include "steps.h"

namespace stagewright::gpu_check {

namespace {

constexpr std::int32_t kSteps = 3;
constexpr std::uint64_t kSeed = 7;
constexpr std::int32_t kGlobalBatch = 8;

struct Tried {
  const char* name;
  bool llama = false;
  Division division;
};

/// What rounding of fp32, and of bf16 operands that are added in another order, leaves of the
/// CPU's losses and norms after a few steps of AdamW.
[[nodiscard]] double tolerance_of(const Division& division) {
  return division.precision == DType::kFloat32 ? 1e-4 : 2e-2;
}

[[nodiscard]] std::vector<Tried> tried_plans() {
  constexpr DType kHalf = DType::kBFloat16;
  return {{"one rank", false, {}},
          {"one rank, llama", true, {}},
          {"one rank, bf16", false, {.precision = kHalf}},
          {"dp2 zero1", false, {.dp = 2, .zero = 1}},
          {"tp2 sequence-parallel, llama", true, {.tp = 2, .sequence_parallel = true}},
          {"pp2 zb-h1", false, {.pp = 2, .schedule = "zb-h1"}},
          {"pp2 interleaved, llama",
           true,
           {.pp = 2, .virtual_stages = 2, .schedule = "interleaved-1f1b"}},
          {"dp2 tp2 pp2 zero1", false, {.dp = 2, .tp = 2, .pp = 2, .zero = 1}},
          {"dp2 tp2 pp2 zero3, bf16",
           false,
           {.dp = 2, .tp = 2, .pp = 2, .zero = 3, .precision = kHalf}}};
}

[[nodiscard]] Result<Schedule> schedule_of(Tried tried, bool small) {
  const ModelSizes sizes =
      small ? ModelSizes{4, 16, 4, 4, 32, 61, 8} : ModelSizes{4, 256, 8, 8, 1024, 2003, 128};
  ModelSizes grouped = sizes;
  grouped.kv_heads = sizes.heads / 2;
  auto model = tried.llama ? llama_model(grouped) : gpt_model(sizes);
  if (!model) {
    return pass_on(std::move(model));
  }
  tried.division.micro_batches = kGlobalBatch / tried.division.dp;
  return lower_for_check(*model, tried.division);
}

/// Trains on the CPU and on the device and compares.
[[nodiscard]] Result<nlohmann::json> compare(const Tried& tried, bool small) {
  const auto schedule = schedule_of(tried, small);
  if (!schedule) {
    return tl::unexpected<Error>(schedule.error());
  }
  const std::vector<const Schedule*> ranks(schedule->ranks.size(), &*schedule);
  const RandomTokens data(*vocabulary_of(*schedule), kSeed);
  RunOptions options;
  options.steps = kSteps;
  options.seed = kSeed;
  options.traced_steps = 0;
  const auto expected = run(ranks, data, options);
  if (!expected) {
    return tl::unexpected<Error>(expected.error());
  }
  if (auto shared = share_cuda_device(options); !shared) {
    return pass_on(std::move(shared));
  }
  const auto actual = run(ranks, data, options);
  if (!actual) {
    return tl::unexpected<Error>(actual.error());
  }
  const double error =
      std::max(curve_distance(actual->trace.losses, expected->trace.losses),
               curve_distance(actual->trace.gradient_norms, expected->trace.gradient_norms));
  return nlohmann::json{{"ranks", schedule->ranks.size()},
                        {"error", error},
                        {"losses", actual->trace.losses},
                        {"losses_on_the_cpu", expected->trace.losses},
                        {"passed", error <= tolerance_of(tried.division)}};
}

}  // namespace

Result<StepResult> check_losses(const StepOptions& options) {
  StepResult result{.step = "losses"};
  nlohmann::json rows = nlohmann::json::array();
  std::size_t good = 0;
  const std::vector<Tried> plans = tried_plans();
  for (const Tried& tried : plans) {
    auto compared = compare(tried, options.small);
    nlohmann::json row =
        compared ? *std::move(compared)
                 : nlohmann::json{{"failure", compared.error().to_string()}, {"passed", false}};
    row["plan"] = tried.name;
    row["tolerance"] = tolerance_of(tried.division);
    good += row["passed"].get<bool>() ? 1 : 0;
    rows.push_back(std::move(row));
  }
  result.status = good == plans.size() ? "passed" : "failed";
  result.summary =
      fmt::format("{} of {} plans of 1 to 8 ranks on one device train as on the CPU ({} steps)",
                  good,
                  plans.size(),
                  kSteps);
  result.figures["plans"] = std::move(rows);
  return result;
}

}  // namespace stagewright::gpu_check
