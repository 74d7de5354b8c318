#include "study/record_setup.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/memory/step_memory.h"
#include "study/record_links.h"
#include "study/record_names.h"

namespace stagewright {
namespace {

/// Figures that no run on this device can have had.
Result<void> check_figures(const MeasuredRecord& record, const DeviceType& device) {
  // Drivers, PyTorch and data sheets count the device's memory differently.
  constexpr double kMemoryCounts = 1.05;
  const auto memory = static_cast<double>(device.memory.count());
  if (record.memory_bytes && *record.memory_bytes > kMemoryCounts * memory) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{:.4g} GB, but {} has {:.4g} GB",
                            *record.memory_bytes / 1e9,
                            device.name,
                            memory / 1e9),
                "measured.memory_gb");
  }
  // All devices together hold each parameter at least once, in one byte or more.
  const double parameters = parameter_counts(record.run).total;
  if (record.memory_bytes && !record.run.optimizer_offload &&
      *record.memory_bytes * static_cast<double>(record.run.devices()) < parameters) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{:.4g} GB on {} devices cannot hold {:.3g} billion parameters",
                            *record.memory_bytes / 1e9,
                            record.run.devices(),
                            parameters / 1e9),
                "measured.memory_gb");
  }
  double peak = 0;
  for (const auto& [type, rate] : device.peak) {
    // 4-bit units run at twice the rate of 8-bit ones.
    peak = std::max(peak, rate.count() * (type == DType::kFloat8 ? 2 : 1));
  }
  if (!record.iteration_seconds || peak == 0) {
    return {};
  }
  constexpr double kLeastShare = 1e-5;
  const TrainingRun& run = record.run;
  const double flops = 6 * parameter_counts(run).active * static_cast<double>(run.global_batch()) *
                       static_cast<double>(run.sequence);
  const double rate = flops / (*record.iteration_seconds * static_cast<double>(run.devices()));
  if (rate > peak || rate < kLeastShare * peak) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{:.4g} s make {:.3g} TFLOP/s a device; the peak of {} is {:.4g}",
                            *record.iteration_seconds,
                            rate / 1e12,
                            device.name,
                            peak / 1e12),
                "measured.iter_time_s");
  }
  return {};
}

/// Whether a run uses what came after a framework's earlier version, whose profile names another
/// one as its successor: fused attention, models of LLaMA's kind, divided sequences, experts,
/// devices with 8-bit products.
bool postdates(const TrainingRun& run, const DeviceType& device) {
  return run.flash_attention.value_or(false) || run.shape.activation == OpVariant::kSwiGlu ||
         run.shape.kv_heads < run.shape.heads || run.cp > 1 || run.experts.has_value() ||
         device.peak.contains(DType::kFloat8);
}

}  // namespace

Result<FrameworkProfile> RecordSetups::framework_of(const std::string& name) {
  auto known = frameworks_.find(name);
  if (known == frameworks_.end()) {
    auto found = framework_named(*files_, name);
    if (!found) {
      found = default_framework(*files_);
    }
    if (!found) {
      return found;
    }
    known = frameworks_.emplace(name, *std::move(found)).first;
  }
  return known->second;
}

Result<void> RecordSetups::choose_micro_batch(TrainingSetup& setup) {
  if (!memory_) {
    auto loaded = load_memory_constants(*files_);
    if (!loaded) {
      return pass_on(std::move(loaded));
    }
    memory_ = *loaded;
  }
  const std::int64_t sequences = setup.run.micro_batches * setup.run.micro_batch;
  const std::int64_t rounds = setup.run.pp > 1 ? std::int64_t{4} * setup.run.pp : 1;
  TrainingSetup trial = setup;
  for (std::int64_t size = 1; size * rounds <= sequences; size *= 2) {
    if (sequences % size != 0) {
      break;
    }
    trial.run.micro_batch = static_cast<std::int32_t>(size);
    trial.run.micro_batches = sequences / size;
    if (!fits(step_memory(trial, *memory_), trial.device)) {
      break;
    }
    setup.run = trial.run;
  }
  return {};
}

Result<TrainingSetup> RecordSetups::setup_of(const MeasuredRecord& record) {
  auto device = devices_.find(record.device);
  if (device == devices_.end()) {
    device = devices_.emplace(record.device, device_named(*files_, record.device)).first;
  }
  if (!device->second) {
    Error error = device->second.error();
    error.where = "cluster.gpu";
    return tl::unexpected<Error>(std::move(error));
  }
  if (auto possible = check_figures(record, *device->second); !possible) {
    return pass_on(std::move(possible));
  }
  auto framework = framework_of(record.framework);
  if (framework && !framework->successor.empty() && postdates(record.run, *device->second)) {
    framework = framework_of(framework->successor);
  }
  if (!framework) {
    return pass_on(std::move(framework));
  }
  TrainingSetup setup;
  setup.run = record.run;
  setup.device = *device->second;
  setup.framework = *std::move(framework);
  if (setup.run.shape.vocabulary % setup.run.tp == 0) {
    // A record states the model that ran: padding is in its vocabulary already, unless that could
    // not be divided.
    setup.framework.pad_vocabulary = 1;
  }
  setup.intra_node = setup.device.intra_node;
  setup.inter_node = setup.device.inter_node;
  setup.domain = domain_of(record.intra_link, record.devices_per_node);
  read_node_link(record.intra_link, setup.intra_node);
  if (auto read = read_network(record.inter_link, record.devices_per_node, setup.inter_node);
      !read) {
    return pass_on(std::move(read));
  }
  if (record.micro_batch_unknown) {
    if (auto chosen = choose_micro_batch(setup); !chosen) {
      return pass_on(std::move(chosen));
    }
  }
  return setup;
}

std::vector<std::string> RecordSetups::assumptions(const MeasuredRecord& record,
                                                   const TrainingSetup& setup) {
  std::vector<std::string> assumed;
  if (setup.framework.name == "generic" && record.framework != "generic") {
    assumed.push_back(record.framework.empty()
                          ? "framework (not stated: generic)"
                          : fmt::format("framework ('{}' is unknown: generic)", record.framework));
  }
  if (record.micro_batch_unknown) {
    assumed.push_back(fmt::format(
        "plan.micro_batch ({}: the largest that fits and leaves 4 micro-batches a stage)",
        setup.run.micro_batch));
  }
  return assumed;
}

}  // namespace stagewright
