#include "formats/measured_record.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_reader.h"
#include "formats/measured_words.h"

namespace stagewright {
namespace {

using nlohmann::json;

/// Larger sizes than any model or cluster has: a slip in the file, not a run.
constexpr std::int64_t kLargestSize = 100'000'000;
constexpr double kLongestStep = 1e6;     ///< seconds
constexpr double kLargestMemory = 1e14;  ///< bytes

/// Fields of one object of the record; the first fault is kept.
class Fields {
 public:
  Fields(const json& record, std::string section, std::string& fault)
      : section_(std::move(section)), fault_(&fault) {
    const auto found = record.find(section_);
    if (found == record.end() || !found->is_object()) {
      reject("", "is required but absent");
    } else {
      object_ = &*found;
    }
  }

  [[nodiscard]] bool known(const char* key) const { return find(key) != nullptr; }

  std::optional<std::int64_t> size(const char* key) {
    const json* value = find(key);
    if (value == nullptr) {
      return std::nullopt;
    }
    const bool whole =
        value->is_number_integer() ||
        (value->is_number_float() && std::floor(value->get<double>()) == value->get<double>());
    const double number = value->is_number() ? value->get<double>() : 0.0;
    if (!whole || number < 1 || number > static_cast<double>(kLargestSize)) {
      reject(key, fmt::format("{} is no size from 1 to {}", value->dump(), kLargestSize));
      return std::nullopt;
    }
    return static_cast<std::int64_t>(number);
  }
  std::int64_t required_size(const char* key) {
    const auto value = size(key);
    if (!value) {
      reject(key, "is not stated");
    }
    return value.value_or(1);
  }
  std::int32_t degree(const char* key) { return static_cast<std::int32_t>(required_size(key)); }
  std::int32_t degree_or(const char* key, std::int32_t fallback) {
    return static_cast<std::int32_t>(size(key).value_or(fallback));
  }

  std::optional<double> positive(const char* key, double largest) {
    const json* value = find(key);
    if (value == nullptr) {
      return std::nullopt;
    }
    const double number = value->is_number() ? value->get<double>() : 0.0;
    if (!std::isfinite(number) || number <= 0 || number > largest) {
      reject(key, fmt::format("{} is no number above 0 and up to {:g}", value->dump(), largest));
      return std::nullopt;
    }
    return number;
  }

  std::optional<bool> flag(const char* key) {
    const json* value = find(key);
    if (value == nullptr) {
      return std::nullopt;
    }
    if (!value->is_boolean()) {
      reject(key, fmt::format("{} is neither true nor false", value->dump()));
      return std::nullopt;
    }
    return value->get<bool>();
  }

  std::optional<std::string> text(const char* key) {
    const json* value = find(key);
    if (value == nullptr) {
      return std::nullopt;
    }
    if (!value->is_string()) {
      reject(key, fmt::format("{} is no text", value->dump()));
      return std::nullopt;
    }
    return value->get<std::string>();
  }

  void reject(std::string_view key, std::string_view message) {
    if (fault_->empty()) {
      *fault_ = key.empty() ? fmt::format("{}: {}", section_, message)
                            : fmt::format("{}.{}: {}", section_, key, message);
    }
  }

  [[nodiscard]] const json* find(const char* key) const {
    if (object_ == nullptr) {
      return nullptr;
    }
    const auto found = object_->find(key);
    return found == object_->end() || found->is_null() ? nullptr : &*found;
  }
  [[nodiscard]] const json* object() const { return object_; }

 private:
  std::string section_;
  const json* object_ = nullptr;
  std::string* fault_;
};

void keep_details(const Fields& fields, MeasuredRecord& record) {
  if (fields.object() == nullptr) {
    return;
  }
  for (const auto& [key, value] : fields.object()->items()) {
    if (value.is_string()) {
      record.details[key] = value.get<std::string>();
    } else if (!value.is_null() && value.is_primitive()) {
      record.details[key] = value.dump();
    }
  }
}

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

void read_experts(Fields& model, MeasuredRecord& record) {
  const json* moe = model.find("moe");
  if (moe == nullptr) {
    return;
  }
  if (!moe->is_object()) {
    model.reject("moe", "is no object");
    return;
  }
  const json whole = {{"model.moe", *moe}};
  std::string fault;
  Fields fields(whole, "model.moe", fault);
  ExpertShape experts;
  experts.experts = fields.required_size("experts");
  experts.per_token = fields.required_size("topk");
  experts.feed_forward = fields.required_size("moe_ffn");
  const json* shared = fields.find("shared");
  const bool has_shared = shared != nullptr && shared->is_number() && *shared > 0;
  experts.shared_feed_forward =
      fields.size("shared_ffn")
          .value_or(has_shared ? shared->get<std::int64_t>() * experts.feed_forward : 0);
  experts.dense_layers = fields.size("dense_layers").value_or(0);
  record.run.latent_attention = fields.text("attention").value_or("") == "MLA";
  if (!fault.empty()) {
    model.reject("moe", fault);
  } else if (experts.per_token > experts.experts) {
    model.reject(
        "moe",
        fmt::format("{} experts a token, but only {} experts", experts.per_token, experts.experts));
  }
  record.run.experts = experts;
}

void read_activation(Fields& model, MeasuredRecord& record) {
  const std::string type = model.text("ffn_type").value_or("");
  if (type == "gelu") {
    record.run.shape.activation = OpVariant::kGelu;
  } else if (type == "swiglu") {
    record.run.shape.activation = OpVariant::kSwiGlu;
    record.run.shape.norm = OpVariant::kRmsNorm;
    record.run.shape.learned_positions = false;
    record.run.shape.biases = false;
    record.run.shape.qkv_bias = false;
  } else if (type == "squared_relu" || type == "relu") {
    record.run.shape.activation = OpVariant::kRelu;
    record.run.squared_relu = type == "squared_relu";
  } else {
    model.reject("ffn_type", fmt::format("'{}' is none of gelu, swiglu, relu, squared_relu", type));
  }
}

void read_model(const json& json_record, MeasuredRecord& record, std::string& fault) {
  Fields model(json_record, "model", fault);
  record.model = model.text("name").value_or("");
  TransformerShape& shape = record.run.shape;
  shape.layers = model.required_size("layers");
  shape.hidden = model.required_size("hidden");
  shape.feed_forward = model.required_size("ffn_hidden");
  shape.vocabulary = model.required_size("vocab");
  record.run.sequence = model.required_size("seq_len");
  shape.max_sequence = record.run.sequence;
  if (const auto heads = model.size("heads")) {
    shape.heads = *heads;
  } else {
    shape.heads = usual_heads(shape.hidden, record.run.tp);
    record.assumed.push_back(fmt::format("model.heads ({}: head size nearest 128)", shape.heads));
  }
  shape.kv_heads = model.size("kv_heads").value_or(shape.heads);
  shape.head_dim =
      model.size("head_dim")
          .value_or(shape.heads > 0 && shape.hidden % shape.heads == 0 ? shape.hidden / shape.heads
                                                                       : 0);
  if (shape.head_dim == 0) {
    model.reject("heads", fmt::format("{} do not divide hidden {}", shape.heads, shape.hidden));
  }
  read_activation(model, record);
  if (const auto position = model.text("pos_emb")) {
    shape.learned_positions = *position == "learned_absolute";
  }
  if (const auto tied = model.flag("tied_embeddings")) {
    shape.tied_embeddings = *tied;
  } else {
    // GPT-2 and its descendants tie them, LLaMA's do not.
    shape.tied_embeddings = shape.activation != OpVariant::kSwiGlu;
    record.assumed.emplace_back("model.tied_embeddings (by family)");
  }
  read_experts(model, record);
}

void read_plan_words(Fields& plan, MeasuredRecord& record) {
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
    read_schedule(*words, run);
  }
}

void read_plan(const json& json_record, MeasuredRecord& record, std::string& fault) {
  Fields plan(json_record, "plan", fault);
  TrainingRun& run = record.run;
  run.tp = plan.degree("tp");
  run.pp = plan.degree("pp");
  run.cp = plan.degree_or("cp", 1);
  run.ep = plan.degree_or("ep", 1);
  run.virtual_stages = plan.degree_or("vpp", 1);
  run.micro_batch = plan.degree("micro_batch");
  if (const auto etp = plan.size("etp")) {
    run.expert_tp = static_cast<std::int32_t>(*etp);
  }
  run.sequence_parallel = plan.flag("sequence_parallel");
  const json* zero = plan.find("zero_stage");
  if (zero != nullptr && (!zero->is_number_integer() || *zero < 0 || *zero > 3)) {
    plan.reject("zero_stage", fmt::format("{} is none of 0, 1, 2, 3", zero->dump()));
  } else if (zero != nullptr) {
    run.zero_stage = zero->get<std::int32_t>();
  }
  run.shard_group = plan.degree_or("zero_group", 0);
  read_plan_words(plan, record);
  run.flash_attention = plan.flag("flash_attention");
  run.compiled = plan.flag("compile");
  run.async_tensor_parallel = plan.flag("async_tp").value_or(false);
  run.overlap_gradients = plan.flag("overlap_grad_reduce");
  run.overlap_gather = plan.flag("overlap_param_gather");
  run.optimizer_offload = plan.flag("optimizer_offload").value_or(false);
  if (const auto layers = plan.size("layers_first_stage")) {
    run.first_stage_layers = static_cast<std::int32_t>(*layers);
  }
  if (const auto layers = plan.size("layers_last_stage")) {
    run.last_stage_layers = static_cast<std::int32_t>(*layers);
  }
  keep_details(plan, record);
}

/// dp and the number of micro-batches, which follow from the rest and must agree with it.
void read_batches(const json& json_record, MeasuredRecord& record, std::string& fault) {
  Fields plan(json_record, "plan", fault);
  Fields cluster(json_record, "cluster", fault);
  TrainingRun& run = record.run;
  record.device = cluster.text("gpu").value_or("");
  if (record.device.empty()) {
    cluster.reject("gpu", "is not stated");
  }
  const std::int64_t gpus = cluster.required_size("gpus");
  record.devices_per_node = cluster.degree_or("gpus_per_node", 8);
  record.intra_link = cluster.text("intra_link").value_or("");
  record.inter_link = cluster.text("inter_link").value_or("");
  const std::int64_t model_parallel = std::int64_t{run.tp} * run.pp * run.cp;
  if (!fault.empty()) {
    return;
  }
  if (gpus % model_parallel != 0) {
    cluster.reject(
        "gpus",
        fmt::format(
            "{} are not a multiple of tp {} x pp {} x cp {}", gpus, run.tp, run.pp, run.cp));
    return;
  }
  run.dp = static_cast<std::int32_t>(gpus / model_parallel);
  if (const auto dp = plan.size("dp"); dp && *dp != run.dp) {
    plan.reject("dp", fmt::format("{} contradicts gpus / (tp pp cp) = {}", *dp, run.dp));
  }
  const std::int64_t global = plan.required_size("global_batch");
  const std::int64_t per_round = std::int64_t{run.dp} * run.micro_batch;
  if (global % per_round != 0) {
    plan.reject(
        "global_batch",
        fmt::format(
            "{} is no multiple of dp {} x micro_batch {}", global, run.dp, run.micro_batch));
    return;
  }
  run.micro_batches = global / per_round;
  if (const auto stated = plan.size("num_micro_batches"); stated && *stated != run.micro_batches) {
    plan.reject(
        "num_micro_batches",
        fmt::format(
            "{} contradicts global_batch / (dp micro_batch) = {}", *stated, run.micro_batches));
  }
}

void read_measured(const json& json_record, MeasuredRecord& record, std::string& fault) {
  Fields measured(json_record, "measured", fault);
  record.iteration_seconds = measured.positive("iter_time_s", kLongestStep);
  const auto tokens = measured.positive("tokens_per_s", 1e12);
  const double step_tokens =
      static_cast<double>(record.run.global_batch()) * static_cast<double>(record.run.sequence);
  if (!record.iteration_seconds && tokens) {
    record.iteration_seconds = step_tokens / *tokens;
  } else if (record.iteration_seconds && tokens &&
             std::abs(step_tokens / *tokens / *record.iteration_seconds - 1) > 0.02) {
    measured.reject("tokens_per_s", "contradicts iter_time_s by more than 2 %");
  }
  if (!record.iteration_seconds && json_record.contains("derived")) {
    Fields derived(json_record, "derived", fault);
    record.iteration_seconds = derived.positive("iter_time_s", kLongestStep);
  }
  const std::string unit = measured.text("memory_unit").value_or("GB");
  const double scale = unit == "GiB" || unit == "GB (MB/1024)" ? 1073741824.0 : 1e9;
  if (const auto memory = measured.positive("memory_gb", kLargestMemory / 1e9)) {
    record.memory_bytes = *memory * scale;
  }
  record.memory_kind = read_memory_kind(measured.text("memory_kind").value_or(""));
  record.out_of_memory = measured.flag("oom").value_or(false);
  keep_details(measured, record);
}

RecordLine read_line(std::string_view line, std::size_t number) {
  RecordLine result{.id = fmt::format("line {}", number)};
  auto parsed = parse_json(line, result.id);
  if (!parsed || !parsed->is_object()) {
    result.skipped = parsed ? "is no JSON object" : parsed.error().message;
    return result;
  }
  const json& root = *parsed;
  MeasuredRecord record;
  const auto top = [&](const char* key) {
    const auto found = root.find(key);
    return found != root.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  record.id = top("id");
  record.dataset = top("dataset");
  record.framework = top("framework");
  record.source = top("source");
  record.quality = top("quality");
  if (!record.id.empty()) {
    result.id = record.id;
  }
  result.dataset = record.dataset;
  std::string fault;
  if (record.id.empty() || record.dataset.empty()) {
    fault = record.id.empty() ? "id: is not stated" : "dataset: is not stated";
  } else if (record.quality != "A" && record.quality != "B" && record.quality != "C") {
    fault = fmt::format("quality: '{}' is none of A, B, C", record.quality);
  }
  if (fault.empty()) {
    read_plan(root, record, fault);
    read_model(root, record, fault);
    read_batches(root, record, fault);
  }
  if (fault.empty()) {
    read_measured(root, record, fault);
    if (const auto sound = check(record.run); fault.empty() && !sound) {
      fault = sound.error().to_string();
    }
  }
  if (fault.empty() && record.quality == "C") {
    fault = "quality: C, too uncertain to be held against";
  }
  if (!fault.empty()) {
    result.skipped = fault;
    return result;
  }
  if (const auto assumed = root.find("assumed_fields");
      assumed != root.end() && assumed->is_array()) {
    for (const json& field : *assumed) {
      if (field.is_string()) {
        record.assumed.push_back(field.get<std::string>());
      }
    }
  }
  record.details["notes"] = top("notes");
  result.record = std::move(record);
  return result;
}

}  // namespace

std::vector<RecordLine> parse_measured_records(std::string_view text) {
  std::vector<RecordLine> lines;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      lines.push_back(read_line(line, number));
    }
  }
  return lines;
}

}  // namespace stagewright
