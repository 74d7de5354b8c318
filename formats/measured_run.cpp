#include "formats/measured_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "formats/measured_words.h"
#include "formats/record_fields.h"

namespace stagewright {
namespace {

using nlohmann::json;

// Larger sizes than any model or cluster has: a slip in the file, not a run.
constexpr std::int64_t kMostLayers = 10'000;
constexpr std::int64_t kMostWidth = 1'000'000;
constexpr std::int64_t kMostInner = 16'000'000;
constexpr std::int64_t kMostHeads = 20'000;
constexpr std::int64_t kMostHeadSize = 4096;
constexpr std::int64_t kMostVocabulary = 16'000'000;
constexpr std::int64_t kMostSequence = 200'000'000;
constexpr std::int64_t kMostExperts = 100'000;
constexpr std::int64_t kMostBatch = 100'000'000;
constexpr std::int64_t kMostNode = 1024;  ///< devices of a node
constexpr double kMostParameters = 1e6;   ///< billions

/// Heads as models have them: a multiple of 16 (and of tp), of a size near 128.
std::int64_t usual_heads(std::int64_t hidden, std::int64_t tp) {
  const std::int64_t unit = std::lcm(std::int64_t{16}, tp);
  std::int64_t best = tp;
  double least = std::numeric_limits<double>::max();
  for (std::int64_t heads = unit; heads <= hidden; heads += unit) {
    const double distance =
        std::abs(static_cast<double>(hidden) / static_cast<double>(heads) - 128.0);
    if (hidden % heads == 0 && distance < least) {
      best = heads;
      least = distance;
    }
  }
  return best;
}

void read_experts(RecordFields& model, MeasuredRecord& record) {
  const json* moe = model.find("moe");
  if (moe == nullptr) {
    return;
  }
  if (!moe->is_object()) {
    model.reject("moe", "is no object");
    return;
  }
  const json whole = {{"moe", *moe}};
  std::string fault;
  RecordFields fields(whole, "moe", fault);
  ExpertShape experts;
  experts.experts = fields.required_size("experts", kMostExperts);
  experts.per_token = fields.required_size("topk", kMostExperts);
  experts.feed_forward = fields.required_size("moe_ffn", kMostInner);
  const std::int64_t shared = fields.size("shared", kMostExperts, 0).value_or(0);
  experts.shared_feed_forward =
      fields.size("shared_ffn", kMostInner, 0).value_or(shared * experts.feed_forward);
  experts.dense_layers = fields.size("dense_layers", kMostLayers, 0).value_or(0);
  (void)fields.positive("active_params_b", kMostParameters);
  const std::string attention = fields.text("attention").value_or("");
  record.run.latent_attention = attention == "MLA";
  if (!attention.empty() && attention != "MLA" && attention != "MHA" && attention != "GQA" &&
      attention != "MQA") {
    fields.reject("attention", fmt::format("'{}' is none of MHA, MQA, GQA, MLA", attention));
  }
  if (experts.per_token > experts.experts) {
    fields.reject(
        "topk",
        fmt::format("{} experts a token, but only {} experts", experts.per_token, experts.experts));
  }
  if (!fault.empty()) {
    model.reject(fault.substr(0, fault.find(':')), fault.substr(fault.find(':') + 2));
  }
  record.run.experts = experts;
}

/// Of a model with a decoder, whose sizes `layers` and `seq_len` are.
void read_encoder(RecordFields& model, MeasuredRecord& record) {
  const auto layers = model.size("encoder_layers", kMostLayers);
  const auto sequence = model.size("encoder_seq_len", kMostSequence);
  if (layers && sequence) {
    record.run.encoder = EncoderShape{.layers = *layers, .sequence = *sequence};
  } else if (layers) {
    model.reject("encoder_seq_len", "is not stated, but model.encoder_layers is");
  } else if (sequence) {
    model.reject("encoder_layers", "is not stated, but model.encoder_seq_len is");
  }
}

void read_activation(RecordFields& model, MeasuredRecord& record) {
  TransformerShape& shape = record.run.shape;
  const std::string type = model.text("ffn_type").value_or("");
  if (type == "gelu") {
    shape.activation = OpVariant::kGelu;
  } else if (type == "swiglu") {
    shape.activation = OpVariant::kSwiGlu;
    shape.norm = OpVariant::kRmsNorm;
    shape.learned_positions = false;
    shape.biases = false;
    shape.qkv_bias = false;
  } else if (type == "squared_relu" || type == "relu") {
    shape.activation = OpVariant::kRelu;
    record.run.squared_relu = type == "squared_relu";
  } else if (type.empty()) {
    model.reject("ffn_type", "is not stated");
  } else {
    model.reject("ffn_type", fmt::format("'{}' is none of gelu, swiglu, relu, squared_relu", type));
  }
}

void read_heads(RecordFields& model, MeasuredRecord& record) {
  TransformerShape& shape = record.run.shape;
  if (const auto heads = model.size("heads", kMostHeads)) {
    shape.heads = *heads;
  } else {
    shape.heads = usual_heads(shape.hidden, record.run.tp);
    record.assumed.push_back(fmt::format("model.heads ({}: head size nearest 128)", shape.heads));
  }
  shape.kv_heads = model.size("kv_heads", kMostHeads).value_or(shape.heads);
  const bool divides = shape.hidden % shape.heads == 0;
  const auto stated = model.size("head_dim", kMostHeadSize);
  shape.head_dim = stated.value_or(divides ? shape.hidden / shape.heads : 1);
  if (!stated && !divides) {
    model.reject("heads", fmt::format("{} do not divide hidden {}", shape.heads, shape.hidden));
  } else if (shape.head_dim > kMostHeadSize) {
    model.reject("heads", fmt::format("{} leave a head size of {}", shape.heads, shape.head_dim));
  }
  if (shape.kv_heads > shape.heads || shape.heads % shape.kv_heads != 0) {
    model.reject("kv_heads", fmt::format("{} do not divide {} heads", shape.kv_heads, shape.heads));
  }
}

void read_model(const json& json_record, MeasuredRecord& record, std::string& fault) {
  RecordFields model(json_record, "model", fault);
  record.model = model.name("name").value_or("");
  TransformerShape& shape = record.run.shape;
  shape.layers = model.required_size("layers", kMostLayers);
  shape.hidden = model.required_size("hidden", kMostWidth);
  shape.feed_forward = model.required_size("ffn_hidden", kMostInner);
  shape.vocabulary = model.required_size("vocab", kMostVocabulary);
  record.run.sequence = model.required_size("seq_len", kMostSequence);
  shape.max_sequence = record.run.sequence;
  read_heads(model, record);
  read_activation(model, record);
  if (const auto position = model.text("pos_emb")) {
    if (const auto learned = read_positions(*position)) {
      shape.learned_positions = *learned;
    } else {
      model.reject("pos_emb", fmt::format("'{}' names no known kind of positions", *position));
    }
  }
  if (const auto tied = model.flag("tied_embeddings")) {
    shape.tied_embeddings = *tied;
  } else {
    // GPT-2 and its descendants tie them, LLaMA's do not.
    shape.tied_embeddings = shape.activation != OpVariant::kSwiGlu;
    record.assumed.emplace_back("model.tied_embeddings (by family)");
  }
  read_experts(model, record);
  read_encoder(model, record);
  (void)model.text("params_nominal");
  (void)model.positive("learned_pos_params_b", kMostParameters);
  const auto stated = model.positive("params_b", kMostParameters);
  if (!fault.empty() || !stated) {
    return;
  }
  // Names round, and some count the embedding twice or not at all.
  const double counted = parameter_counts(record.run).total / 1e9;
  if (*stated > 2 * counted || *stated < counted / 2) {
    model.reject("params_b",
                 fmt::format("{} contradicts the sizes, which make {:.3g}", *stated, counted));
  }
}

void read_plan_words(RecordFields& plan, MeasuredRecord& record) {
  TrainingRun& run = record.run;
  if (const auto words = plan.text("precision")) {
    if (!read_precision(*words, run)) {
      plan.reject("precision", fmt::format("'{}' names no known number format", *words));
    }
  } else {
    plan.reject("precision", "is not stated");
  }
  if (const auto words = plan.text("recompute")) {
    if (!read_recompute(*words, run)) {
      plan.reject("recompute", fmt::format("'{}' is none of none, selective, full", *words));
    }
  }
  if (const auto words = plan.text("schedule")) {
    if (!read_schedule(*words, run)) {
      plan.reject("schedule", fmt::format("'{}' names no known pipeline schedule", *words));
    } else if (run.schedule.find("interleaved") != std::string::npos && run.virtual_stages == 1) {
      plan.reject("schedule", fmt::format("'{}' contradicts vpp, which says 1 or nothing", *words));
    }
  }
}

/// What only some frameworks say: checked for its type and kept by name.
void read_plan_details(RecordFields& plan, MeasuredRecord& record) {
  for (const char* key : {"attention_backend",
                          "transformer_impl",
                          "optimizer",
                          "mp_mode",
                          "main_params_dtype",
                          "main_grads_dtype",
                          "exp_avg_dtype"}) {
    if (auto words = plan.name(key)) {
      record.details[key] = *std::move(words);
    }
  }
  for (const char* key : {"activation_offload", "loss_fusion", "grad_reduce_in_bf16"}) {
    if (const auto set = plan.flag(key)) {
      record.details[key] = *set ? "true" : "false";
    }
  }
  const json* sharded = plan.find("fsdp");
  if (sharded != nullptr && sharded->is_string()) {
    (void)plan.name("fsdp");
  } else if (sharded != nullptr && !sharded->is_boolean()) {
    (void)plan.size("fsdp", kMostDegree);
  }
  for (const char* key : {"precision", "schedule"}) {
    record.details[key] = plan.text(key).value_or("");
  }
}

void read_stage_layers(RecordFields& plan, TrainingRun& run) {
  if (const auto layers = plan.size("layers_first_stage", kMostLayers, 0)) {
    run.first_stage_layers = static_cast<std::int32_t>(*layers);
  }
  if (const auto layers = plan.size("layers_last_stage", kMostLayers, 0)) {
    run.last_stage_layers = static_cast<std::int32_t>(*layers);
  }
}

void read_plan(const json& json_record, MeasuredRecord& record, std::string& fault) {
  RecordFields plan(json_record, "plan", fault);
  TrainingRun& run = record.run;
  run.tp = plan.degree("tp");
  run.pp = plan.degree("pp");
  run.cp = plan.degree_or("cp", 1);
  run.ep = plan.degree_or("ep", 1);
  run.virtual_stages = plan.degree_or("vpp", 1);
  if (run.virtual_stages > 1 && run.pp == 1) {
    plan.reject("vpp", fmt::format("{} virtual stages contradict pp 1", run.virtual_stages));
  }
  if (const auto etp = plan.size("etp", kMostDegree)) {
    run.expert_tp = static_cast<std::int32_t>(*etp);
  }
  run.sequence_parallel = plan.flag("sequence_parallel");
  if (const auto stage = plan.size("zero_stage", 3, 0)) {
    run.zero_stage = static_cast<std::int32_t>(*stage);
  } else {
    record.assumed.emplace_back("plan.zero_stage (0)");
  }
  run.shard_group = plan.degree_or("zero_group", 0);
  read_plan_words(plan, record);
  run.flash_attention = plan.flag("flash_attention");
  run.compiled = plan.flag("compile");
  run.async_tensor_parallel = plan.flag("async_tp").value_or(false);
  run.overlap_gradients = plan.flag("overlap_grad_reduce");
  run.overlap_gather = plan.flag("overlap_param_gather");
  run.optimizer_offload = plan.flag("optimizer_offload").value_or(false);
  read_stage_layers(plan, run);
  read_plan_details(plan, record);
}

/// Replicas, which follow from the devices and must agree with what is stated.
void read_cluster(const json& json_record, MeasuredRecord& record, std::string& fault) {
  RecordFields plan(json_record, "plan", fault);
  RecordFields cluster(json_record, "cluster", fault);
  TrainingRun& run = record.run;
  record.device = cluster.name("gpu").value_or("");
  if (record.device.empty()) {
    cluster.reject("gpu", "is not stated");
  }
  const std::int64_t gpus = cluster.required_size("gpus", kMostDegree);
  record.devices_per_node =
      static_cast<std::int32_t>(cluster.size("gpus_per_node", kMostNode).value_or(8));
  record.intra_link = cluster.name("intra_link").value_or("");
  record.inter_link = cluster.name("inter_link").value_or("");
  if (!fault.empty()) {
    return;
  }
  const std::int64_t model_parallel = std::int64_t{run.tp} * run.pp * run.cp;
  if (gpus % model_parallel != 0) {
    cluster.reject(
        "gpus",
        fmt::format(
            "{} are not a multiple of tp {} x pp {} x cp {}", gpus, run.tp, run.pp, run.cp));
    return;
  }
  if (gpus > record.devices_per_node && gpus % record.devices_per_node != 0) {
    cluster.reject("gpus_per_node",
                   fmt::format("{} do not divide {} gpus", record.devices_per_node, gpus));
  }
  run.dp = static_cast<std::int32_t>(gpus / model_parallel);
  if (const auto dp = plan.size("dp", kMostDegree); dp && *dp != run.dp) {
    plan.reject("dp", fmt::format("{} contradicts gpus / (tp pp cp) = {}", *dp, run.dp));
  }
}

/// Micro-batches: two of their size, their number and the global batch give the third.
void read_batches(const json& json_record, MeasuredRecord& record, std::string& fault) {
  RecordFields plan(json_record, "plan", fault);
  TrainingRun& run = record.run;
  const std::int64_t global = plan.required_size("global_batch", kMostBatch);
  const auto count = plan.size("num_micro_batches", kMostBatch);
  auto size = plan.size("micro_batch", kMostDegree);
  if (!fault.empty()) {
    return;
  }
  if (!size && count && global % (run.dp * *count) == 0) {
    size = global / (run.dp * *count);
  } else if (!size && !count && plan.object()->contains("micro_batch")) {
    // The format's null: nobody knows.  The smallest stands in until the devices are known.
    record.micro_batch_unknown = true;
    size = 1;
  } else if (!size) {
    plan.reject("micro_batch", "is not stated");
    return;
  }
  run.micro_batch = static_cast<std::int32_t>(*size);
  const std::int64_t per_round = std::int64_t{run.dp} * run.micro_batch;
  if (global % per_round != 0) {
    plan.reject(
        "global_batch",
        fmt::format(
            "{} is no multiple of dp {} x micro_batch {}", global, run.dp, run.micro_batch));
    return;
  }
  run.micro_batches = global / per_round;
  if (count && *count != run.micro_batches) {
    plan.reject(
        "num_micro_batches",
        fmt::format(
            "{} contradicts global_batch / (dp micro_batch) = {}", *count, run.micro_batches));
  }
}

}  // namespace

void read_measured_run(const json& record, MeasuredRecord& into, std::string& fault) {
  read_plan(record, into, fault);
  read_model(record, into, fault);
  read_cluster(record, into, fault);
  if (fault.empty()) {
    read_batches(record, into, fault);
  }
  if (fault.empty()) {
    if (const auto sound = check(into.run); !sound) {
      fault = sound.error().to_string();
    }
  }
}

}  // namespace stagewright
