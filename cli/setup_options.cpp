#include "cli/setup_options.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/number_check.h"
#include "core/base/dtype.h"
#include "core/cluster/cluster.h"
#include "core/training/framework.h"
#include "core/training/run_sizes.h"
#include "formats/model_file.h"
#include "planner/schedules/registry.h"

namespace stagewright {
namespace {

Result<void> read_precision(const SetupOptions& options, TrainingRun& run) {
  const auto type = parse_dtype(options.precision);
  if (!type) {
    return tl::unexpected<Error>(type.error());
  }
  if (*type == DType::kFloat32) {
    run.format = MatrixFormat::kFloat32;
  } else if (*type == DType::kFloat16) {
    run.format = MatrixFormat::kFloat16;
    run.half_precision = true;
  } else if (*type != DType::kBFloat16) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("'{}' is not a format that models are trained in; use bf16, fp16 or "
                            "fp32",
                            options.precision),
                "--precision");
  }
  return {};
}

Result<void> read_batches(const SetupOptions& options, std::int64_t devices, TrainingRun& run) {
  const std::int64_t used = std::int64_t{options.tp} * options.pp * options.cp;
  if (options.dp && *options.dp * used > devices) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("dp {} x tp {} x pp {} x cp {} = {} is more than the {} devices",
                            *options.dp,
                            options.tp,
                            options.pp,
                            options.cp,
                            *options.dp * used,
                            devices),
                "--dp");
  }
  if (!options.dp && devices % used != 0) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("tp {} x pp {} x cp {} = {} does not divide the {} devices",
                            options.tp,
                            options.pp,
                            options.cp,
                            used,
                            devices),
                "--cluster");
  }
  run.dp = options.dp.value_or(static_cast<std::int32_t>(devices / used));
  run.micro_batches = std::max<std::int64_t>(options.micro_batches, 1);
  if (options.micro_batches == 0 && options.global_batch) {
    const std::int64_t each = std::int64_t{run.dp} * options.micro_batch;
    if (*options.global_batch % each != 0) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("{} is no multiple of dp {} x micro-batch {}",
                              *options.global_batch,
                              run.dp,
                              options.micro_batch),
                  "--global-batch");
    }
    run.micro_batches = *options.global_batch / each;
  } else if (options.micro_batches == 0) {
    run.micro_batches = std::int64_t{4} * options.pp;
  }
  return {};
}

Result<TrainingRun> read_run(const SetupOptions& options,
                             const ModelSizes& sizes,
                             std::int64_t devices) {
  auto run = run_of(sizes);
  if (!run) {
    return run;
  }
  if (options.sequence > 0) {
    run->sequence = options.sequence;
  }
  run->tp = options.tp;
  run->pp = options.pp;
  run->cp = options.cp;
  run->ep = options.ep;
  run->virtual_stages = options.virtual_stages;
  run->micro_batch = options.micro_batch;
  run->zero_stage = options.zero_stage;
  run->schedule = options.schedule;
  if (options.sequence_parallel) {
    run->sequence_parallel = true;
  }
  if (!options.recompute.empty()) {
    run->recompute = recompute_named(options.recompute);
  }
  if (!options.attention.empty()) {
    run->flash_attention = options.attention == "flash";
  }
  if (auto read = read_precision(options, *run); !read) {
    return pass_on(std::move(read));
  }
  if (auto read = read_batches(options, devices, *run); !read) {
    return pass_on(std::move(read));
  }
  if (auto ok = check(*run); !ok) {
    return tl::unexpected<Error>(as_option(std::move(ok.error())));
  }
  return run;
}

void add_degrees(CLI::App& command, SetupOptions& options) {
  command.add_option("--dp", options.dp, "Data parallelism (default: all devices)")
      ->check(positive_count);
  command.add_option("--tp", options.tp, "Tensor parallelism")->check(positive_count);
  command.add_option("--pp", options.pp, "Pipeline parallelism")->check(positive_count);
  command.add_option("--cp", options.cp, "Context parallelism")->check(positive_count);
  command.add_option("--ep", options.ep, "Expert parallelism")->check(positive_count);
  command.add_option("--virtual-stages", options.virtual_stages, "Stages of a pipeline rank")
      ->check(positive_count);
  command.add_option("--zero", options.zero_stage, "ZeRO stage (1 is the distributed optimizer)")
      ->check(CLI::Range(0, 3));
  command.add_flag("--sequence-parallel",
                   options.sequence_parallel,
                   "Divide norms along the sequence (default: as the framework does)");
}

}  // namespace

std::shared_ptr<SetupOptions> add_setup_options(CLI::App& command) {
  auto options = std::make_shared<SetupOptions>();
  command.add_option(
      "--model", options->model, "Preset, Hugging Face config.json (any family), or model file");
  command.add_option("--cluster",
                     options->cluster,
                     "NODESxDEVICESxTYPE (32x8xa100-80gb-sxm), a preset, or a cluster file");
  command.add_option("--framework",
                     options->framework,
                     "Whose byte rules apply: megatron, fsdp, torchtitan, deepspeed, nemo, "
                     "stagewright, ... (profiles/frameworks)");
  add_degrees(command, *options);
  command.add_option("--seq", options->sequence, "Tokens per sequence")->check(positive_count);
  command.add_option("--micro-batch", options->micro_batch, "Sequences of a micro-batch")
      ->check(positive_count);
  command
      .add_option(
          "--micro-batches", options->micro_batches, "Per replica and step (default: 4 x pp)")
      ->check(positive_count);
  command.add_option("--global-batch", options->global_batch, "Sequences per step, over replicas")
      ->check(positive_count);
  command.add_option("--precision", options->precision, "bf16, fp16, fp32");
  command.add_option("--recompute", options->recompute, "none, selective or full")
      ->check(CLI::IsMember({"none", "selective", "full"}));
  command.add_option("--attention", options->attention, "flash, or materialized scores")
      ->check(CLI::IsMember({"flash", "scores"}));
  command.add_option("--schedule", options->schedule, "1f1b, gpipe, zb-h1, ...");
  return options;
}

Error as_option(Error error) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kOptions{
      {{"plan.tp", "--tp"},
       {"plan.pp", "--pp"},
       {"plan.cp", "--cp"},
       {"plan.ep", "--ep"},
       {"plan.vpp", "--virtual-stages"},
       {"plan.schedule", "--schedule"},
       {"model", "--model"}}};
  for (const auto& [field, option] : kOptions) {
    if (error.where == field) {
      error.where = option;
    }
  }
  return error;
}

Result<ExplainedRun> explained_run(const DataFiles& files, const SetupOptions& options) {
  if (options.model.empty() || options.cluster.empty()) {
    return fail(ErrorCode::kInvalidInput,
                "name both --model and --cluster (1x8xh100-sxm is one node)",
                options.model.empty() ? "--model" : "--cluster");
  }
  if (!options.schedule.empty()) {
    if (auto known = find_schedule(options.schedule); !known) {
      known.error().where = "--schedule";
      return pass_on(std::move(known));
    }
  }
  auto sizes = find_model_sizes(files, options.model);
  if (!sizes) {
    return pass_on(std::move(sizes));
  }
  auto cluster = find_cluster(files, options.cluster);
  if (!cluster) {
    return pass_on(std::move(cluster));
  }
  auto framework = find_framework(files, options.framework);
  if (!framework) {
    return pass_on(std::move(framework));
  }
  auto run = read_run(options, *sizes, cluster->device_count());
  if (!run) {
    return pass_on(std::move(run));
  }
  ExplainedRun explained{.sizes = *std::move(sizes)};
  explained.setup.run = *std::move(run);
  explained.setup.device = cluster->types.front();
  explained.setup.intra_node = cluster->intra_link(NodeId(0));
  explained.setup.inter_node = cluster->inter_link(NodeId(0));
  explained.setup.domain = static_cast<std::int32_t>(cluster->nodes.front().devices.size());
  explained.setup.framework = *std::move(framework);
  return explained;
}

}  // namespace stagewright
