#include "sim/cost/step_constants.h"

#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/json_reader.h"
#include "core/base/suggest.h"

namespace stagewright {

namespace {

constexpr std::array<StepConstantInfo, kStepConstantCount> kInfos{{
    {StepConstant::kElementwiseShare,
     "elementwise_share",
     "share of memory bandwidth that element-wise kernels reach",
     0.79,
     0.08},
    {StepConstant::kKernelMicros, "kernel_micros", "device time added per kernel, us", 4.5, 0.3},
    {StepConstant::kHostMicros,
     "host_micros",
     "host time per kernel of an eager program, us",
     30,
     0.25},
    {StepConstant::kSmallTileCost,
     "small_tile_cost",
     "time of a product whose tiles are halved, over that of whole tiles, for the same work",
     1.12,
     0.08},
    {StepConstant::kFloat8Share,
     "float8_share",
     "rate of fp8 products with one scale a tensor, over the bf16 share of the fp8 peak",
     0.92,
     0.1},
    {StepConstant::kBlockScaleShare,
     "block_scale_share",
     "rate of block-scaled products over that",
     0.93,
     0.1},
    {StepConstant::kFloat4Share,
     "float4_share",
     "rate of 4-bit products over that of the peak",
     0.7,
     0.2},
    {StepConstant::kFlash1Share,
     "flash1_share",
     "FlashAttention-1 in training over FlashAttention-2 alone",
     0.6,
     0.1},
    {StepConstant::kFlash2Share,
     "flash2_share",
     "FlashAttention-2 in training over its published rate",
     0.9,
     0.1},
    {StepConstant::kVendorShare,
     "vendor_attention_share",
     "cuDNN's attention on Hopper and later over FlashAttention-2's rate",
     1.4,
     0.15},
    {StepConstant::kBatchedShare,
     "batched_share",
     "rate of attention's batched products over that of single ones",
     0.5,
     0.2},
    {StepConstant::kCollectiveMicros,
     "collective_micros",
     "added to each tensor-parallel collective: skew and launch, us",
     12,
     0.5},
    {StepConstant::kNicShare, "nic_share", "share of line rate between nodes", 0.75, 0.15},
    {StepConstant::kNodeMicros,
     "node_micros",
     "added per node of a ring between nodes and bucket, us",
     20,
     0.7},
    {StepConstant::kShardedOverlap,
     "sharded_overlap",
     "hidden share of the smaller of computation and sharded-parameter traffic",
     0.8,
     0.15},
    {StepConstant::kReplicaOverlap,
     "replica_overlap",
     "hidden share of gradient traffic where the framework overlaps it",
     0.6,
     0.3},
    {StepConstant::kOverlapSlowdown,
     "overlap_slowdown",
     "slow-down of computation while communication runs",
     1.13,
     0.05},
    {StepConstant::kTensorOverlap,
     "tensor_overlap",
     "hidden share of tensor-parallel traffic where products and collectives are interleaved",
     0.5,
     0.4},
    {StepConstant::kTransferExposed,
     "transfer_exposed",
     "share of stage transfers that overlapping pipelines do not hide",
     0.3,
     0.6},
    {StepConstant::kStraggle, "straggle", "slower per doubling of the nodes", 0.008, 0.5},
    {StepConstant::kOptimizerBytes,
     "optimizer_bytes",
     "memory traffic per parameter and step: unscale, norm, clip, Adam, cast",
     37,
     0.3},
    {StepConstant::kStepMillis, "step_millis", "once per step, ms", 10, 0.5},
    {StepConstant::kOwnerMillis,
     "owner_millis",
     "per owner that sends its updated parameters out, ms",
     2,
     0.7},
    {StepConstant::kExpertTraffic,
     "expert_traffic",
     "memory traffic of routing, over one copy of the routed tokens each way",
     2,
     0.5},
    {StepConstant::kExpertExposed,
     "expert_exposed",
     "share of the dispatch's traffic that is not hidden",
     0.7,
     0.4},
}};

}  // namespace

const std::array<StepConstantInfo, kStepConstantCount>& step_constant_infos() {
  return kInfos;
}

TimingClass StepConstants::timing(const std::string& name) const {
  TimingClass result{.host_micros = (*this)[StepConstant::kHostMicros]};
  auto found = matrix_factors.find(name);
  if (found == matrix_factors.end()) {
    found = matrix_factors.find("");
  }
  if (found != matrix_factors.end()) {
    result.matrix_factor = found->second;
  }
  return result;
}

StepConstants prior_step_constants() {
  StepConstants constants;
  for (const StepConstantInfo& info : step_constant_infos()) {
    constants.values[static_cast<std::size_t>(info.constant)] = info.prior;
  }
  constants.matrix_factors[""] = TimingClass{}.matrix_factor;
  constants.architectures[""] = {};
  return constants;
}

Result<StepConstants> parse_step_constants(std::string_view text, std::string_view where) {
  auto json = parse_json(text, where);
  if (!json) {
    return pass_on(std::move(json));
  }
  JsonReader reader(*json, std::string(where));
  StepConstants constants = prior_step_constants();
  if (reader.integer("version") != 1) {
    reader.reject("version", "is not 1, the only version there is");
  }
  reader.ignore("made_by");
  reader.object("constants", [&](JsonReader& values) {
    for (const StepConstantInfo& info : step_constant_infos()) {
      const double value = values.number(info.name);
      if (!values.failed() && !(value > 0 && std::isfinite(value))) {
        values.reject(info.name, "must be above 0");
      }
      constants.values[static_cast<std::size_t>(info.constant)] = value;
    }
  });
  reader.object("band", [&](JsonReader& band) {
    constants.band = {.base = band.number("base"),
                      .host = band.number("host"),
                      .traffic = band.number("traffic"),
                      .fixed = band.number("fixed"),
                      .experts = band.number("experts")};
  });
  reader.objects("classes", [&](JsonReader& entry) {
    const std::string name = entry.text("name");
    constants.matrix_factors[name] = entry.number("matrix_factor");
  });
  reader.objects("architectures", [&](JsonReader& entry) {
    const std::string name = entry.text("name");
    constants.architectures[name] = {.matrix = entry.number("matrix"),
                                     .attention = entry.number("attention")};
  });
  if (auto done = reader.finish(); !done) {
    return pass_on(std::move(done));
  }
  return constants;
}

std::string to_json_text(const StepConstants& constants) {
  const auto rounded = [](double value) { return std::stod(std::to_string(value)); };
  nlohmann::ordered_json json;
  json["version"] = 1;
  for (const StepConstantInfo& info : step_constant_infos()) {
    json["constants"][info.name] = rounded(constants[info.constant]);
  }
  json["band"] = {{"base", rounded(constants.band.base)},
                  {"host", rounded(constants.band.host)},
                  {"traffic", rounded(constants.band.traffic)},
                  {"fixed", rounded(constants.band.fixed)},
                  {"experts", rounded(constants.band.experts)}};
  json["classes"] = nlohmann::ordered_json::array();
  for (const auto& [name, factor] : constants.matrix_factors) {
    json["classes"].push_back({{"name", name}, {"matrix_factor", rounded(factor)}});
  }
  json["architectures"] = nlohmann::ordered_json::array();
  for (const auto& [name, shares] : constants.architectures) {
    json["architectures"].push_back({{"name", name},
                                     {"matrix", rounded(shares.matrix)},
                                     {"attention", rounded(shares.attention)}});
  }
  return json.dump(2) + "\n";
}

Result<StepConstants> load_step_constants(const DataFiles& files) {
  constexpr std::string_view kFile = "calibration/step_time.json";
  const auto text = files.find(kFile);
  if (!text) {
    return fail(ErrorCode::kNotFound,
                "no calibration is there; run `stagewright calibrate`",
                files.where(kFile));
  }
  auto constants = parse_step_constants(*text, files.where(kFile));
  if (!constants) {
    return constants;
  }
  auto learned = load_learned_kernels(files);
  if (!learned) {
    return pass_on(std::move(learned));
  }
  constants->learned = *std::move(learned);
  return constants;
}

}  // namespace stagewright
