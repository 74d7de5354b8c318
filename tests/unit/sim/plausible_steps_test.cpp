// Predictions far from any published run that the constants were fitted to: other devices,
// frameworks, sizes, formats and degrees.  None of them has a measured figure here; what must hold
// is that each stays within what such runs can reach, and moves the right way when one thing
// changes.

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "core/cluster/cluster.h"
#include "memory_setups.h"
#include "sim/step/step_time.h"

namespace stagewright {
namespace {

struct Case {
  std::string name;
  TrainingSetup setup;
  double least = 0;  ///< model FLOP/s of a device over its 16-bit peak
  double most = 1;
};

const DataFiles& files() {
  static const DataFiles kFiles = DataFiles::embedded();
  return kFiles;
}

const StepConstants& constants() {
  static const StepConstants kConstants = load_step_constants(files()).value();
  return kConstants;
}

double wide_peak(const DeviceType& device) {
  for (const DType type : {DType::kBFloat16, DType::kFloat16, DType::kFloat32}) {
    if (const auto found = device.peak.find(type); found != device.peak.end()) {
      return found->second.count();
    }
  }
  return 0;
}

/// Six FLOPs a parameter that a token visits and twelve a score that the mask leaves, as papers
/// count them, per second and device.
double model_rate(const TrainingRun& run, double seconds) {
  const auto tokens = static_cast<double>(run.global_batch() * run.sequence);
  const auto width = static_cast<double>(run.shape.heads * run.shape.head_dim);
  const double scores =
      6 * static_cast<double>(run.shape.layers) * width * static_cast<double>(run.sequence);
  return tokens * (6 * parameter_counts(run).active + scores) / seconds /
         static_cast<double>(run.devices());
}

TrainingSetup on(const std::string& device, const std::string& framework, TrainingRun run) {
  TrainingSetup setup = setup_with(framework);
  setup.device = find_device(files(), device).value();
  setup.intra_node = setup.device.intra_node;
  setup.inter_node = setup.device.inter_node;
  // Racks of GB200 and GB300 are one domain of 72; degrees are powers of two.
  setup.domain = device.starts_with("gb") ? 64 : setup.device.devices_per_node;
  setup.run = std::move(run);
  return setup;
}

using Change = std::function<void(TrainingRun&)>;

TrainingRun changed(TrainingRun run, const Change& change) {
  change(run);
  return run;
}

TrainingRun llama8b(const Change& change) {
  TrainingRun run = llama_run(32, 4096, 32, 8, 14336, 128256);
  run.sequence = 8192;
  run.micro_batches = 8;
  run.zero_stage = 1;
  return changed(std::move(run), change);
}

TrainingRun gpt175b(const Change& change) {
  TrainingRun run = gpt_run(96, 12288, 96);
  run.flash_attention = true;
  run.tp = 8;
  run.pp = 8;
  run.dp = 16;
  run.micro_batches = 96;
  run.zero_stage = 1;
  return changed(std::move(run), change);
}

TrainingRun gpt1t(const Change& change) {
  TrainingRun run = gpt_run(128, 25600, 160);
  run.tp = 8;
  run.pp = 64;
  run.dp = 6;
  run.micro_batches = 512;
  run.recompute = Recompute::kFull;
  return changed(std::move(run), change);
}

TrainingRun small_gpt(const Change& change) {
  TrainingRun run = gpt_run(12, 768, 12);
  run.sequence = 1024;
  run.micro_batch = 8;
  run.dp = 8;
  run.micro_batches = 4;
  return changed(std::move(run), change);
}

/// 256 experts of which a token visits eight, one shared, latent attention.
TrainingRun deepseek_v3(const Change& change) {
  TrainingRun run = llama_run(61, 7168, 128, 128, 18432, 129280);
  run.shape.head_dim = 128;
  run.experts = ExpertShape{.experts = 256,
                            .per_token = 8,
                            .feed_forward = 2048,
                            .shared_feed_forward = 2048,
                            .dense_layers = 3};
  run.latent_attention = true;
  run.pp = 8;
  run.dp = 128;
  run.ep = 64;
  run.micro_batches = 64;
  run.zero_stage = 1;
  run.recompute = Recompute::kFull;
  return changed(std::move(run), change);
}

TrainingRun mixtral(const Change& change) {
  TrainingRun run = llama_run(32, 4096, 32, 8, 14336, 32000);
  run.experts = ExpertShape{.experts = 8, .per_token = 2, .feed_forward = 14336};
  run.dp = 64;
  run.ep = 8;
  run.micro_batches = 8;
  run.zero_stage = 1;
  return changed(std::move(run), change);
}

void add_devices(std::vector<Case>& cases) {
  for (const char* device : {"a100-80gb-sxm",
                             "a100-80gb-pcie",
                             "h100-80gb-sxm",
                             "h200-141gb-sxm",
                             "h20-96gb-sxm",
                             "b200-180gb-sxm",
                             "gb300-288gb",
                             "mi300x-192gb",
                             "mi250x-128gb",
                             "gaudi2-96gb",
                             "tpu-v5p",
                             "ascend910b-64gb"}) {
    for (const char* framework : {"megatron", "generic", "nemo2"}) {
      cases.push_back({std::string("8B on 64 ") + device + ", " + framework,
                       on(device, framework, llama8b([](TrainingRun& run) { run.dp = 64; })),
                       0.2,
                       0.75});
    }
  }
  for (const char* device : {"v100-32gb-sxm",
                             "t4-16gb",
                             "a10-24gb",
                             "l4-24gb",
                             "l40s-48gb",
                             "rtx3090-24gb",
                             "rtx4090-24gb",
                             "rtx5090-32gb"}) {
    cases.push_back({std::string("124M on 8 ") + device,
                     on(device, "generic", small_gpt([](TrainingRun&) {})),
                     0.05,
                     0.7});
  }
}

void add_sizes(std::vector<Case>& cases) {
  for (const char* device : {"a100-80gb-sxm", "h100-80gb-sxm", "gb200-186gb"}) {
    const std::string behind = std::string(" on ") + device;
    const auto add =
        [&](const char* name, const char* framework, TrainingRun run, double least, double most) {
          cases.push_back({name + behind, on(device, framework, std::move(run)), least, most});
        };
    add("175B", "megatron", gpt175b([](TrainingRun&) {}), 0.2, 0.65);
    add("175B, interleaved",
        "megatron",
        gpt175b([](TrainingRun& run) { run.virtual_stages = 6; }),
        0.2,
        0.65);
    add("1T, recomputed", "megatron", gpt1t([](TrainingRun&) {}), 0.15, 0.55);
    add("124M", "generic", small_gpt([](TrainingRun&) {}), 0.02, 0.6);
    add("Mixtral, ep 8", "megatron", mixtral([](TrainingRun&) {}), 0.1, 0.65);
    add("Mixtral, tp 2",
        "megatron",
        mixtral([](TrainingRun& run) {
          run.tp = 2;
          run.dp = 32;
          run.ep = 4;
        }),
        0.1,
        0.65);
    for (const std::int32_t ep : {8, 16, 64}) {
      add("DeepSeek-V3",
          "megatron",
          deepseek_v3([ep](TrainingRun& run) { run.ep = ep; }),
          0.04,
          0.5);
    }
    for (const std::int32_t cp : {2, 4, 8, 16}) {
      add("8B, long sequences",
          "megatron",
          llama8b([cp](TrainingRun& run) {
            run.cp = cp;
            run.dp = 4;
            run.sequence *= cp;
            run.recompute = Recompute::kFull;
          }),
          0.15,
          0.65);
    }
    for (const std::int32_t dp : {8, 64, 512, 2048}) {
      for (const std::int32_t group : {0, 8}) {
        add("70B, sharded",
            "fsdp",
            changed(llama_run(80, 8192, 64, 8, 28672, 128256),
                    [dp, group](TrainingRun& run) {
                      run.dp = dp;
                      run.zero_stage = 3;
                      run.shard_group = group;
                      run.micro_batch = 2;
                      run.recompute = Recompute::kFull;
                    }),
            0.1,
            0.65);
      }
    }
  }
  for (const MatrixFormat format :
       {MatrixFormat::kFloat8, MatrixFormat::kFloat8Blocks, MatrixFormat::kFloat4}) {
    for (const char* device : {"h100-80gb-sxm", "b200-180gb-sxm", "mi355x-288gb"}) {
      cases.push_back({std::string("8B in few bits on ") + device,
                       on(device, "megatron", llama8b([format](TrainingRun& run) {
                            run.dp = 8;
                            run.format = format;
                          })),
                       0.3,
                       1.4});
    }
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  add_devices(all);
  add_sizes(all);
  return all;
}

double seconds_of(const TrainingSetup& setup) {
  return step_time(setup, constants()).seconds;
}

TEST(PlausibleSteps, EveryRunReachesWhatSuchRunsCan) {
  for (const Case& one : cases()) {
    ASSERT_TRUE(can_price(one.setup)) << one.name << can_price(one.setup).error().to_string();
    const StepTime step = step_time(one.setup, constants());
    const double share = model_rate(one.setup.run, step.seconds) / wide_peak(one.setup.device);
    EXPECT_GE(share, one.least) << one.name << ": " << step.seconds << " s";
    EXPECT_LE(share, one.most) << one.name << ": " << step.seconds << " s";
    for (const double term : step.terms) {
      EXPECT_TRUE(std::isfinite(term) && term >= 0) << one.name;
    }
    EXPECT_GE(step.deviation, constants().band.base) << one.name;
    EXPECT_LE(step.deviation, 1) << one.name;
  }
}

// Small models on every device that there is a file of.
TEST(PlausibleSteps, EveryDeviceIsPriced) {
  for (const std::string& file : files().list("hardware")) {
    const DeviceType device = parse_device(files().find(file).value(), file).value();
    if (device.architecture.empty()) {
      continue;  // the CPU: not by these prices
    }
    TrainingSetup setup = on(device.name, "generic", small_gpt([](TrainingRun&) {}));
    ASSERT_TRUE(can_price(setup)) << file;
    const double share = model_rate(setup.run, seconds_of(setup)) / wide_peak(device);
    EXPECT_GT(share, 0.01) << file;
    EXPECT_LT(share, 0.75) << file;
  }
}

// Of architectures that no record came from, less is known.
TEST(PlausibleSteps, UnseenArchitecturesHaveAWiderBand) {
  const auto deviation = [](const char* device) {
    return step_time(on(device, "megatron", llama8b([](TrainingRun& run) { run.dp = 8; })),
                     constants())
        .deviation;
  };
  for (const char* unseen : {"tpu-v5p", "gaudi2-96gb", "l40s-48gb", "mi355x-288gb"}) {
    EXPECT_GT(deviation(unseen), 1.5 * deviation("h100-80gb-sxm")) << unseen;
  }
}

// A better machine is never slower.
TEST(PlausibleSteps, NothingGetsSlowerOnABetterMachine) {
  const std::vector<std::pair<const char*, std::function<void(TrainingSetup&)>>> better{
      {"peak",
       [](TrainingSetup& setup) {
         for (auto& [type, rate] : setup.device.peak) {
           rate = FlopsPerSecond(rate.count() * 2);
         }
       }},
      {"memory",
       [](TrainingSetup& setup) {
         setup.device.memory_bandwidth = BytesPerSecond(setup.device.memory_bandwidth.count() * 2);
       }},
      {"links inside nodes",
       [](TrainingSetup& setup) {
         setup.intra_node.bandwidth = BytesPerSecond(setup.intra_node.bandwidth.count() * 2);
       }},
      {"links between nodes",
       [](TrainingSetup& setup) {
         setup.inter_node.bandwidth = BytesPerSecond(setup.inter_node.bandwidth.count() * 2);
       }},
      {"latency",
       [](TrainingSetup& setup) {
         setup.inter_node.latency = Duration(setup.inter_node.latency.count() / 2);
         setup.intra_node.latency = Duration(setup.intra_node.latency.count() / 2);
       }},
  };
  for (const Case& one : cases()) {
    const double seconds = seconds_of(one.setup);
    for (const auto& [what, change] : better) {
      TrainingSetup setup = one.setup;
      change(setup);
      EXPECT_LE(seconds_of(setup), seconds * (1 + 1e-9)) << one.name << ", " << what;
    }
  }
}

// Twice the micro-batches take more time, but at most twice as much; a longer sequence and a larger
// micro-batch of twice the tokens take more as well.
TEST(PlausibleSteps, MoreWorkTakesLongerAndFillsBetter) {
  for (const Case& one : cases()) {
    const double seconds = seconds_of(one.setup);
    TrainingSetup more = one.setup;
    more.run.micro_batches *= 2;
    EXPECT_GT(seconds_of(more), seconds) << one.name;
    EXPECT_LE(seconds_of(more), 2 * seconds) << one.name;
    TrainingSetup larger = one.setup;
    larger.run.micro_batch *= 2;
    EXPECT_GT(seconds_of(larger), seconds) << one.name;
    // Shapes fill the last wave of thread blocks better or worse.
    EXPECT_LE(seconds_of(larger), 2.15 * seconds) << one.name;
    TrainingSetup longer = one.setup;
    longer.run.sequence *= 2;
    EXPECT_GT(seconds_of(longer), seconds) << one.name;
    EXPECT_LE(seconds_of(longer), 4 * seconds) << one.name;
  }
}

// Replicas with the same work each: the exchange grows, the rest stays.
TEST(PlausibleSteps, MoreReplicasAreNeverFasterEach) {
  for (const Case& one : cases()) {
    TrainingSetup more = one.setup;
    more.run.dp *= 2;
    if (one.setup.run.zero_stage > 0) {
      continue;  // the optimizer's share shrinks
    }
    EXPECT_GE(seconds_of(more), seconds_of(one.setup) * (1 - 1e-9)) << one.name;
  }
}

// Parameters that stay in a node cost less than those that come over the network with every layer.
TEST(PlausibleSteps, HybridShardingSparesTheNetwork) {
  TrainingRun run = llama_run(32, 4096, 32, 32, 11008, 32000);
  run.dp = 512;
  run.zero_stage = 3;
  TrainingSetup whole = on("h100-80gb-sxm", "fsdp", run);
  whole.inter_node.bandwidth = BytesPerSecond(6.25e9);
  TrainingSetup hybrid = whole;
  hybrid.run.shard_group = 8;
  const double spared = step_time(whole, constants())[StepTerm::kGradientTraffic] -
                        step_time(hybrid, constants())[StepTerm::kGradientTraffic];
  // Of two gathers and a scatter over the network a sum is left, which moves two thirds of that;
  // the gathers inside the nodes and the longer way around add to it.
  EXPECT_GT(spared, 0.05 * step_time(whole, constants())[StepTerm::kGradientTraffic]);
}

// Four bits need units that take them.
TEST(PlausibleSteps, FourBitsAreFasterOnlyWithUnitsForThem) {
  const auto seconds = [](const char* device, MatrixFormat format) {
    return seconds_of(on(device, "megatron", llama8b([format](TrainingRun& run) {
                           run.dp = 8;
                           run.format = format;
                         })));
  };
  EXPECT_LT(seconds("b200-180gb-sxm", MatrixFormat::kFloat4),
            seconds("b200-180gb-sxm", MatrixFormat::kFloat8Blocks));
  EXPECT_NEAR(seconds("h100-80gb-sxm", MatrixFormat::kFloat4) /
                  seconds("h100-80gb-sxm", MatrixFormat::kFloat8Blocks),
              1,
              0.02);
}

}  // namespace
}  // namespace stagewright
