#include "planner/lower/check_plan.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "planner/axes/context.h"
#include "planner/axes/expert.h"
#include "planner/axes/tensor.h"

namespace stagewright {
namespace {

std::string stage_key(std::size_t stage, std::string_view key) {
  return fmt::format("plan:/stages/{}/{}", stage, key);
}

/// A size that has to be one or more.
struct PositiveSize {
  std::string_view key;
  std::int64_t value = 0;
};

Result<void> check_positive(const PositiveSize& size, const std::string& where) {
  if (size.value < 1) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{} is {}; it must be at least 1", size.key, size.value),
                where);
  }
  return {};
}

Result<void> check_sizes(const Plan& plan) {
  const std::array sizes{PositiveSize{"virtual_stages", plan.virtual_stages},
                         PositiveSize{"cp", plan.cp},
                         PositiveSize{"ep", plan.ep},
                         PositiveSize{"sequence", plan.sequence},
                         PositiveSize{"micro_batch_size", plan.micro_batch_size},
                         PositiveSize{"micro_batches", plan.micro_batches},
                         PositiveSize{"flushes", plan.flushes},
                         PositiveSize{"bucket_size", plan.bucket_size.value_or(Bytes(1)).count()}};
  for (const PositiveSize& size : sizes) {
    if (Result<void> checked = check_positive(size, fmt::format("plan:/{}", size.key)); !checked) {
      return checked;
    }
  }
  if (auto checked = check_step_size(plan.micro_batches, plan.micro_batch_size, plan.sequence);
      !checked) {
    return fail(ErrorCode::kUnsupported, checked.error().message, "plan:/micro_batches");
  }
  if (plan.micro_batches % plan.flushes != 0) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("{} micro_batches cannot be divided into {} flushes of equal size",
                            plan.micro_batches,
                            plan.flushes),
                "plan:/flushes");
  }
  return {};
}

Result<void> check_model(const ModelGraph& model, const Plan& plan) {
  if (!plan.model_hash.empty()) {
    const std::string hash = model_hash(model);
    if (plan.model_hash != hash) {
      return fail(
          ErrorCode::kInvalidInput,
          fmt::format("the plan was made for model '{}' with hash {}, but '{}' has hash {}; "
                      "plan again for this model",
                      plan.model,
                      plan.model_hash,
                      model.name,
                      hash),
          "plan:/model_hash");
    }
  }
  bool chain = model.edges.size() + 1 == model.layers.size();
  for (std::size_t i = 0; chain && i < model.edges.size(); ++i) {
    chain = model.edges[i] == std::pair{LayerId(i), LayerId(i + 1)};
  }
  if (!chain) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("the layers of '{}' do not form a chain; only chains can be lowered",
                            model.name),
                "plan:/model");
  }
  if (model.shape.learned_positions && plan.sequence > model.shape.max_sequence) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("sequence is {}, but '{}' has learned positions for {} tokens",
                            plan.sequence,
                            model.name,
                            model.shape.max_sequence),
                "plan:/sequence");
  }
  return {};
}

Result<void> check_stage_count(const ModelGraph& model, const Plan& plan) {
  if (plan.stages.empty()) {
    return fail(ErrorCode::kInvalidInput, "the plan has no stages", "plan:/stages");
  }
  if (plan.stages.size() % static_cast<std::size_t>(plan.virtual_stages) != 0) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("{} stages cannot be divided among ranks with {} virtual stages each",
                            plan.stages.size(),
                            plan.virtual_stages),
                "plan:/virtual_stages");
  }
  if (plan.stages.size() > model.layers.size()) {
    return fail(
        ErrorCode::kInfeasible,
        fmt::format("{} stages, but '{}' has {} layers (embedding and head among them); use "
                    "fewer pipeline or virtual stages",
                    plan.stages.size(),
                    model.name,
                    model.layers.size()),
        "plan:/stages");
  }
  return {};
}

/// Every layer on exactly one stage, in order: no layer is lost or doubled.
Result<void> check_layers(const ModelGraph& model, const Plan& plan) {
  std::int32_t next = 0;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const StagePlan& stage = plan.stages[i];
    if (Result<void> checked = check_positive({"layers", stage.layers}, stage_key(i, "layers"));
        !checked) {
      return checked;
    }
    if (stage.first_layer != next) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("first_layer is {}, but the stages before it end at layer {}; each "
                              "layer belongs to exactly one stage, in order",
                              stage.first_layer,
                              next),
                  stage_key(i, "first_layer"));
    }
    next += stage.layers;
    if (stage.recompute_layers &&
        (*stage.recompute_layers < 0 || *stage.recompute_layers > stage.layers)) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("recompute_layers is {}; the stage has {} layers",
                              *stage.recompute_layers,
                              stage.layers),
                  stage_key(i, "recompute_layers"));
    }
  }
  if (static_cast<std::size_t>(next) != model.layers.size()) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("the stages hold {} layers, but '{}' has {} (embedding and head among "
                            "them)",
                            next,
                            model.name,
                            model.layers.size()),
                "plan:/stages");
  }
  return {};
}

Result<void> check_degrees(const ModelGraph& model, const Plan& plan) {
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const StagePlan& stage = plan.stages[i];
    for (const PositiveSize& size : {PositiveSize{"dp", stage.dp}, PositiveSize{"tp", stage.tp}}) {
      if (Result<void> checked = check_positive(size, stage_key(i, size.key)); !checked) {
        return checked;
      }
    }
    const StagePlan& first = plan.stages.front();
    if (stage.dp != first.dp || stage.tp != first.tp) {
      const bool dp = stage.dp != first.dp;
      return fail(
          ErrorCode::kUnsupported,
          fmt::format("{0} is {1} here and {2} in stage 0; stages of different {0} cannot be "
                      "lowered yet, give all the same",
                      dp ? "dp" : "tp",
                      dp ? stage.dp : stage.tp,
                      dp ? first.dp : first.tp),
          stage_key(i, dp ? "dp" : "tp"));
    }
  }
  if (Result<void> checked = check_expert_degree(model, plan); !checked) {
    return checked;
  }
  return check_tensor_degree(model, plan.stages.front().tp, stage_key(0, "tp"));
}

Result<void> unsupported(std::string message, std::string where) {
  return fail(ErrorCode::kUnsupported, std::move(message), std::move(where));
}

/// An image is one row: there is no sequence to divide.
Result<void> check_images(const ModelGraph& model, const Plan& plan) {
  if (!sees_images(model)) {
    return {};
  }
  if (plan.cp > 1) {
    return unsupported(
        fmt::format(
            "cp is {}, but '{}' sees images, which it does not divide; use 1", plan.cp, model.name),
        "plan:/cp");
  }
  if (plan.sequence != 1) {
    return fail(
        ErrorCode::kInfeasible,
        fmt::format(
            "sequence is {}, but a row of '{}' is one image; use 1", plan.sequence, model.name),
        "plan:/sequence");
  }
  return {};
}

/// What a plan can say and lowering cannot do.
Result<void> check_supported(const ModelGraph& model, const Plan& plan) {
  if (auto checked = check_images(model, plan); !checked) {
    return checked;
  }
  if (expert_count(model) > 0) {
    if (plan.sequence_parallel && plan.stages.front().tp > 1) {
      return unsupported(
          fmt::format(
              "sequence_parallel is true, but '{}' has experts, which choose from all rows; "
              "use false",
              model.name),
          "plan:/sequence_parallel");
    }
    if (plan.cp > 1 && model.shape.balance > 0) {
      return unsupported(
          fmt::format(
              "cp is {}, but the balance term of '{}' is one of whole sequences; use 1, or a "
              "model without it",
              plan.cp,
              model.name),
          "plan:/cp");
    }
  }
  if (plan.zero_stage < 0 || plan.zero_stage > 3) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("zero_stage is {}; it is 0, 1, 2 or 3", plan.zero_stage),
                "plan:/zero_stage");
  }
  return {};
}

/// Each member of a context group has as many rows, and sequence parallelism gives each member of a
/// tensor group as many of these.
Result<void> check_rows(const Plan& plan) {
  if (auto checked = check_context_degree(plan); !checked) {
    return checked;
  }
  const std::int64_t tokens = plan.sequence / plan.cp;
  const std::int64_t rows = plan.micro_batch_size * tokens;
  const std::int32_t tp = plan.stages.front().tp;
  if (plan.sequence_parallel && rows % tp != 0) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("sequence_parallel is true, but tp {} does not divide the {} tokens of "
                            "a micro-batch ({} x {}); use false, or a sequence that tp divides",
                            tp,
                            rows,
                            plan.micro_batch_size,
                            tokens),
                "plan:/sequence_parallel");
  }
  return {};
}

Result<void> check_precision(const Plan& plan) {
  const PrecisionPlan& precision = plan.precision;
  // What a device cannot run it refuses itself.
  constexpr std::array kCompute{
      DType::kFloat32, DType::kTf32, DType::kBFloat16, DType::kFloat16, DType::kFloat8};
  constexpr std::array kGradient{DType::kFloat32, DType::kBFloat16, DType::kFloat16};
  if (std::find(kCompute.begin(), kCompute.end(), precision.compute) == kCompute.end()) {
    return unsupported(
        fmt::format("compute is {}; use fp32, tf32, bf16, fp16 or fp8", name_of(precision.compute)),
        "plan:/precision/compute");
  }
  if (std::find(kGradient.begin(), kGradient.end(), precision.gradient) == kGradient.end()) {
    return unsupported(
        fmt::format("gradient is {}; use fp32, bf16 or fp16", name_of(precision.gradient)),
        "plan:/precision/gradient");
  }
  const bool low = precision.compute == DType::kBFloat16 || precision.compute == DType::kFloat16;
  if (precision.transfer && *precision.transfer != precision.compute) {
    const bool shorter =
        *precision.transfer == DType::kBFloat16 || *precision.transfer == DType::kFloat16;
    if (low || !shorter) {
      return unsupported(
          fmt::format("transfer is {} and compute {}; messages have the type in which they are "
                      "computed, or bf16 or fp16 where that is fp32 or tf32",
                      name_of(*precision.transfer),
                      name_of(precision.compute)),
          "plan:/precision/transfer");
    }
  }
  return {};
}

Result<void> check_rank_order(const Plan& plan) {
  std::vector<std::string> sorted = plan.rank_order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != std::vector<std::string>{"cp", "dp", "pp", "tp"}) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("rank_order is [{}]; it must list each of tp, cp, dp and pp once, the "
                            "fastest first",
                            fmt::join(plan.rank_order, ", ")),
                "plan:/rank_order");
  }
  return {};
}

/// What joins the degrees of a plan in a message, where it divides sequences.
std::string context_text(std::int32_t cp) {
  return cp > 1 ? fmt::format(" x cp {}", cp) : "";
}

Result<void> check_device_list(const StagePlan& stage,
                               std::int32_t cp,
                               std::int32_t devices,
                               const std::string& where) {
  if (stage.devices.empty()) {
    return {};
  }
  const auto needed = static_cast<std::size_t>(stage.dp) * static_cast<std::size_t>(stage.tp) *
                      static_cast<std::size_t>(cp);
  if (stage.devices.size() != needed) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{} devices are listed; dp {} x tp {}{} needs {}",
                            stage.devices.size(),
                            stage.dp,
                            stage.tp,
                            context_text(cp),
                            needed),
                where);
  }
  for (const std::int32_t device : stage.devices) {
    if (device < 0 || device >= devices) {
      return fail(
          ErrorCode::kInfeasible,
          fmt::format(
              "device {} is not in the cluster, which has devices 0 to {}", device, devices - 1),
          where);
    }
  }
  return {};
}

Result<void> check_devices(const Cluster& cluster, const Plan& plan) {
  const std::int32_t devices = cluster.device_count();
  bool all_listed = true;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    all_listed = all_listed && !plan.stages[i].devices.empty();
    if (Result<void> checked =
            check_device_list(plan.stages[i], plan.cp, devices, stage_key(i, "devices"));
        !checked) {
      return checked;
    }
  }
  const StagePlan& first = plan.stages.front();
  const std::int64_t ranks = std::int64_t{first.dp} * first.tp * plan.cp * plan.pp();
  if (!all_listed && ranks > devices) {
    return fail(
        ErrorCode::kInfeasible,
        fmt::format("dp {} x tp {}{} x pp {} needs {} devices, but cluster '{}' has {}; lower a "
                    "degree, or list the devices of each stage to put several ranks on one",
                    first.dp,
                    first.tp,
                    context_text(plan.cp),
                    plan.pp(),
                    ranks,
                    cluster.name,
                    devices),
        "plan:/stages");
  }
  return {};
}

}  // namespace

Result<void> check_step_size(std::int64_t micro_batches,
                             std::int64_t micro_batch_size,
                             std::int64_t sequence) {
  if (micro_batches > kMostMicroBatches) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} micro-batches in a step are more than the {} that are supported; "
                            "use larger micro-batches, more replicas or a smaller batch",
                            micro_batches,
                            kMostMicroBatches));
  }
  if (micro_batch_size > kMostMicroBatchTokens / sequence) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("a micro-batch of {} sequences of {} tokens has more than the {} "
                            "tokens that are supported; use smaller micro-batches",
                            micro_batch_size,
                            sequence,
                            kMostMicroBatchTokens));
  }
  return {};
}

Result<void> check_plan(const ModelGraph& model, const Cluster& cluster, const Plan& plan) {
  if (Result<void> checked = check_sizes(plan); !checked) {
    return checked;
  }
  if (Result<void> checked = check_model(model, plan); !checked) {
    return checked;
  }
  if (Result<void> checked = check_stage_count(model, plan); !checked) {
    return checked;
  }
  if (Result<void> checked = check_layers(model, plan); !checked) {
    return checked;
  }
  if (Result<void> checked = check_supported(model, plan); !checked) {
    return checked;
  }
  if (Result<void> checked = check_degrees(model, plan); !checked) {
    return checked;
  }
  if (Result<void> checked = check_rows(plan); !checked) {
    return checked;
  }
  if (Result<void> checked = check_precision(plan); !checked) {
    return checked;
  }
  if (Result<void> checked = check_rank_order(plan); !checked) {
    return checked;
  }
  return check_devices(cluster, plan);
}

}  // namespace stagewright
