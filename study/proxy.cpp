#include "study/proxy.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/model/transformer.h"
#include "planner/lower/lower.h"

namespace stagewright {
namespace {

/// Notes what changes while it changes it.
class Shrinking {
 public:
  template <class T>
  void set(std::string_view what, T& value, T smaller) {
    if (value != smaller) {
      shrunk_.push_back(fmt::format("{} {} -> {}", what, value, smaller));
      value = smaller;
    }
  }
  void note(std::string text) { shrunk_.push_back(std::move(text)); }
  [[nodiscard]] std::vector<std::string> take() { return std::move(shrunk_); }

 private:
  std::vector<std::string> shrunk_;
};

[[nodiscard]] std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return std::max<std::int64_t>(1, (value + multiple - 1) / multiple) * multiple;
}

/// Degrees beside the pipeline: two of each kind, and fewer where that makes too many ranks.
void shrink_degrees(Plan& plan, const ProxyLimits& limits, Shrinking& changes) {
  constexpr std::int32_t kMost = 2;
  std::int32_t dp = 1;
  std::int32_t tp = 1;
  for (const StagePlan& stage : plan.stages) {
    dp = std::max(dp, stage.dp);
    tp = std::max(tp, stage.tp);
  }
  std::int32_t small_dp = std::min(dp, kMost);
  std::int32_t small_tp = std::min(tp, kMost);
  std::int32_t small_cp = std::min(plan.cp, kMost);
  const auto too_many = [&] {
    return std::int64_t{plan.pp()} * small_dp * small_tp * small_cp > limits.ranks;
  };
  for (std::int32_t* degree : {&small_tp, &small_cp, &small_dp}) {
    if (too_many()) {
      *degree = 1;
    }
  }
  changes.set("dp", dp, small_dp);
  changes.set("tp", tp, small_tp);
  changes.set("cp", plan.cp, small_cp);
  changes.set("ep", plan.ep, std::min(plan.ep, std::max(dp * plan.cp, 1)));
  for (StagePlan& stage : plan.stages) {
    stage.dp = std::min(stage.dp, dp);
    stage.tp = std::min(stage.tp, tp);
    stage.devices.clear();
  }
}

[[nodiscard]] std::vector<std::int32_t> blocks_by_stage(const ModelGraph& model, const Plan& plan) {
  std::vector<std::int32_t> blocks;
  for (const StagePlan& stage : plan.stages) {
    const auto first = model.layers.begin() + stage.first_layer;
    blocks.push_back(static_cast<std::int32_t>(
        std::count_if(first, first + stage.layers, [](const Layer& layer) {
          return layer.role == LayerRole::kBlock;
        })));
  }
  return blocks;
}

/// As few as say how many each stage has beside the others, as far as whole numbers can; a few more
/// where that would be hardly any, one each where it would be many.
[[nodiscard]] std::vector<std::int32_t> fewer(std::vector<std::int32_t> blocks) {
  constexpr std::int32_t kLeast = 4;
  constexpr std::int32_t kMost = 64;
  std::int32_t fewest = std::numeric_limits<std::int32_t>::max();
  for (const std::int32_t count : blocks) {
    fewest = count > 0 ? std::min(fewest, count) : fewest;
  }
  std::vector<std::int32_t> relative;
  std::int32_t all = 0;
  for (const std::int32_t count : blocks) {
    relative.push_back(static_cast<std::int32_t>(std::lround(static_cast<double>(count) / fewest)));
    all += relative.back();
  }
  const std::int32_t times = all == 0 ? 1 : (kLeast + all - 1) / all;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i] = std::min(blocks[i], all > kMost ? 1 : times * relative[i]);
  }
  return blocks;
}

void shrink_stages(const ModelGraph& model,
                   Plan& plan,
                   TransformerShape& shape,
                   Shrinking& changes) {
  const std::vector<std::int32_t> whole = blocks_by_stage(model, plan);
  const std::vector<std::int32_t> blocks = fewer(whole);
  std::int32_t next = 0;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    StagePlan& stage = plan.stages[i];
    stage.first_layer = next;
    stage.layers += blocks[i] - whole[i];
    if (stage.recompute_layers) {
      stage.recompute_layers = std::min(*stage.recompute_layers, stage.layers);
    }
    next += stage.layers;
    sum += blocks[i];
  }
  changes.set("blocks", shape.layers, sum);
}

void shrink_width(const Plan& plan,
                  const ProxyLimits& limits,
                  TransformerShape& shape,
                  Shrinking& changes) {
  if (shape.hidden > limits.hidden) {
    constexpr std::int64_t kFew = 4;
    constexpr std::int64_t kLeastHeadDim = 8;
    constexpr std::int64_t kMultiple = 16;
    const TransformerShape whole = shape;
    const std::int64_t tp = plan.uniform_tp().value_or(2);
    changes.set("kv_heads", shape.kv_heads, std::min(shape.kv_heads, tp));
    const std::int64_t group = std::min(whole.heads / whole.kv_heads, kFew);
    changes.set("heads", shape.heads, rounded_up(shape.kv_heads * group, tp));
    const std::int64_t fitting =
        limits.hidden / shape.heads / 2 * 2;  // rotary positions need pairs
    changes.set(
        "head_dim", shape.head_dim, std::min(shape.head_dim, std::max(fitting, kLeastHeadDim)));
    const auto scaled = [&](std::int64_t size) {
      const double share = static_cast<double>(shape.heads * shape.head_dim) /
                           static_cast<double>(whole.heads * whole.head_dim);
      return rounded_up(std::llround(static_cast<double>(size) * share), kMultiple);
    };
    changes.set("hidden", shape.hidden, scaled(whole.hidden));
    changes.set("feed_forward", shape.feed_forward, scaled(whole.feed_forward));
  }
  if (shape.experts > 0) {
    constexpr std::int64_t kExperts = 4;
    changes.set("experts",
                shape.experts,
                std::min(shape.experts, std::max<std::int64_t>(kExperts, plan.ep)));
    changes.set("experts_per_token",
                shape.experts_per_token,
                std::min(shape.experts_per_token, shape.experts / 2 > 0 ? shape.experts / 2 : 1));
  }
  if (limits.vocabulary) {
    changes.set("vocabulary", shape.vocabulary, std::min(shape.vocabulary, *limits.vocabulary));
  }
}

void shrink_tokens(Plan& plan,
                   const ProxyLimits& limits,
                   TransformerShape& shape,
                   Shrinking& changes) {
  changes.set("sequence", plan.sequence, std::min(plan.sequence, limits.sequence));
  changes.set("max_sequence",
              shape.max_sequence,
              std::min<std::int64_t>(shape.max_sequence, plan.sequence));
  constexpr std::int32_t kSequences = 2;
  changes.set(
      "micro_batch_size", plan.micro_batch_size, std::min(plan.micro_batch_size, kSequences));
  if (plan.precision.compute == DType::kFloat8) {
    changes.note("compute fp8 -> bf16");
    plan.precision.compute = DType::kBFloat16;
  }
}

[[nodiscard]] Result<void> set_model(const DataFiles& files,
                                     PlanInputs& inputs,
                                     TransformerShape shape) {
  auto model = make_transformer(inputs.model.name + "-proxy", inputs.model.family, shape);
  if (!model) {
    return pass_on(std::move(model));
  }
  inputs.model = *std::move(model);
  inputs.plan.model = inputs.model.name;
  inputs.plan.model_hash.clear();
  inputs.plan.cluster = fmt::format("1x{}xcpu", inputs.plan.devices());
  auto cluster = find_cluster(files, inputs.plan.cluster);
  if (!cluster) {
    return pass_on(std::move(cluster));
  }
  inputs.cluster = *std::move(cluster);
  return {};
}

/// As few micro-batches as fill and drain the pipeline and the schedule allows.
[[nodiscard]] Result<void> shrink_micro_batches(PlanInputs& inputs, Shrinking& changes) {
  Plan& plan = inputs.plan;
  const std::int32_t whole = plan.micro_batches;
  for (const std::int32_t rounds : {2, 3, 4, 6, 8}) {
    const std::int64_t fewer = std::int64_t{rounds} * plan.pp() * plan.flushes;
    if (fewer >= whole) {
      break;
    }
    plan.micro_batches = static_cast<std::int32_t>(fewer);
    if (lower(inputs.model, inputs.cluster, plan)) {
      changes.note(fmt::format("micro_batches {} -> {}", whole, fewer));
      return {};
    }
  }
  plan.micro_batches = whole;
  return lower(inputs.model, inputs.cluster, plan).map([](const Schedule&) {});
}

}  // namespace

Result<Proxy> make_proxy(const DataFiles& files,
                         const PlanInputs& inputs,
                         const ProxyLimits& limits) {
  if (sees_images(inputs.model)) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("'{}' is a convolutional network; proxies are made of transformers: "
                            "write a smaller network with the same kinds of layers instead",
                            inputs.model.name),
                "--proxy");
  }
  Proxy proxy{inputs, {}};
  Plan& plan = proxy.inputs.plan;
  TransformerShape shape = inputs.model.shape;
  Shrinking changes;
  shrink_degrees(plan, limits, changes);
  shrink_stages(inputs.model, plan, shape, changes);
  shrink_width(plan, limits, shape, changes);
  shrink_tokens(plan, limits, shape, changes);
  if (auto set = set_model(files, proxy.inputs, shape); !set) {
    return pass_on(std::move(set));
  }
  if (plan.bucket_size) {
    const double share = static_cast<double>(parameter_count(proxy.inputs.model)) /
                         static_cast<double>(parameter_count(inputs.model));
    constexpr std::int64_t kLeast = 1024;
    const auto scaled =
        static_cast<std::int64_t>(share * static_cast<double>(plan.bucket_size->count()));
    plan.bucket_size = Bytes(std::max(kLeast, scaled));
  }
  if (auto set = shrink_micro_batches(proxy.inputs, changes); !set) {
    set.error().message = "the plan's proxy cannot be lowered: " + set.error().message;
    return pass_on(std::move(set));
  }
  proxy.shrunk = changes.take();
  return proxy;
}

Result<PlanInputs> one_rank_of(const DataFiles& files, const PlanInputs& inputs) {
  PlanInputs one = inputs;
  Plan& plan = one.plan;
  const auto sequences = inputs.plan.global_batch();
  plan.stages = {{.layers = static_cast<std::int32_t>(inputs.model.layers.size())}};
  plan.virtual_stages = 1;
  plan.cp = 1;
  plan.ep = 1;
  plan.zero_stage = 0;
  plan.sequence_parallel = false;
  plan.bucket_size.reset();
  plan.schedule = "1f1b";
  plan.schedule_parameters.clear();
  plan.flushes = 1;
  plan.precision.transfer.reset();
  plan.micro_batches = static_cast<std::int32_t>(sequences / plan.micro_batch_size);
  plan.cluster = "1x1xcpu";
  auto cluster = find_cluster(files, plan.cluster);
  if (!cluster) {
    return pass_on(std::move(cluster));
  }
  one.cluster = *std::move(cluster);
  return one;
}

}  // namespace stagewright
