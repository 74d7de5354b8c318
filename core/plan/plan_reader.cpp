#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/json_reader.h"
#include "core/cluster/most_devices.h"
#include "core/plan/plan.h"

namespace stagewright {
namespace {

constexpr std::int64_t kVersion = 1;

/// What the scalar keys say: shorthand for the stages, or defaults of those that are written out.
struct Scalars {
  std::int32_t dp = 1;
  std::int32_t tp = 1;
  std::optional<std::int32_t> pp;
  Recompute recompute = Recompute::kNone;
};

Recompute read_recompute(JsonReader& reader, Recompute fallback) {
  static const std::vector<std::string_view> kNames = {"none", "selective", "full"};
  return reader.has("recompute") ? static_cast<Recompute>(reader.one_of("recompute", kNames))
                                 : fallback;
}

DType read_dtype(JsonReader& reader, std::string_view key, DType fallback) {
  if (!reader.has(key)) {
    return fallback;
  }
  const auto type = parse_dtype(reader.text(key));
  if (!type) {
    reader.reject(key, type.error().message);
    return fallback;
  }
  if (*type == DType::kInt32) {
    reader.reject(key, "is int32; training needs a floating-point type such as bf16");
  }
  return *type;
}

PrecisionPlan read_precision(JsonReader& reader) {
  PrecisionPlan precision;
  precision.compute = read_dtype(reader, "compute", precision.compute);
  precision.gradient = read_dtype(reader, "gradient", precision.gradient);
  precision.master_weights = reader.boolean_or("master_weights", precision.master_weights);
  if (reader.has("transfer")) {
    precision.transfer = read_dtype(reader, "transfer", DType::kFloat32);
  }
  return precision;
}

/// The number at `key`, which must not be below `least`.
double read_at_least(JsonReader& reader, std::string_view key, double least, double fallback) {
  const double value = reader.number_or(key, fallback);
  if (!reader.failed() && !(value >= least)) {
    reader.reject(key, fmt::format("is {}; it must be {} or more", value, least));
  }
  return value;
}

double read_decay_rate(JsonReader& reader, std::string_view key, double fallback) {
  const double value = read_at_least(reader, key, 0, fallback);
  if (!reader.failed() && value >= 1) {
    reader.reject(key, fmt::format("is {}; it must be below 1", value));
  }
  return value;
}

OptimizerSpec read_optimizer(JsonReader& reader, bool clips_nothing) {
  OptimizerSpec optimizer;
  if (reader.has("kind")) {
    optimizer.kind = static_cast<OptimizerKind>(reader.one_of("kind", {"sgd", "adam", "adamw"}));
  }
  optimizer.learning_rate = read_at_least(reader, "learning_rate", 0, optimizer.learning_rate);
  optimizer.momentum = read_decay_rate(reader, "momentum", optimizer.momentum);
  optimizer.beta1 = read_decay_rate(reader, "beta1", optimizer.beta1);
  optimizer.beta2 = read_decay_rate(reader, "beta2", optimizer.beta2);
  optimizer.epsilon = read_at_least(reader, "epsilon", 0, optimizer.epsilon);
  optimizer.weight_decay = read_at_least(reader, "weight_decay", 0, optimizer.weight_decay);
  const double clip = reader.number_or("clip_norm", *optimizer.clip_norm);
  if (!reader.failed() && !(clip > 0)) {
    reader.reject("clip_norm", fmt::format("is {}; write null for no clipping", clip));
  }
  optimizer.clip_norm = clips_nothing ? std::nullopt : std::optional(clip);
  return optimizer;
}

std::map<std::string, std::int64_t> read_integers(JsonReader& reader, std::string_view key) {
  std::map<std::string, std::int64_t> result;
  const nlohmann::json* value = reader.raw(key);
  reader.object(key, [&](JsonReader& inner) {
    if (value->is_object()) {
      for (const auto& item : value->items()) {
        result[item.key()] = inner.integer(item.key());
      }
    }
  });
  return result;
}

std::map<std::string, std::string> read_texts(JsonReader& reader, std::string_view key) {
  std::map<std::string, std::string> result;
  const nlohmann::json* value = reader.raw(key);
  reader.object(key, [&](JsonReader& inner) {
    if (value->is_object()) {
      for (const auto& item : value->items()) {
        result[item.key()] = inner.text(item.key());
      }
    }
  });
  return result;
}

RankOrder read_rank_order(JsonReader& reader, RankOrder fallback) {
  if (!reader.has("rank_order")) {
    return fallback;
  }
  RankOrder order = reader.texts("rank_order");
  if (!reader.failed() && !std::ranges::is_permutation(order, fallback)) {
    reader.reject("rank_order",
                  fmt::format("must hold each of tp, cp, dp, pp once, fastest first; it holds [{}]",
                              fmt::join(order, ", ")));
  }
  return order;
}

/// Devices of a stage: as many as its degrees say.
std::vector<std::int32_t> read_devices(JsonReader& reader,
                                       const StagePlan& stage,
                                       std::int32_t cp) {
  std::vector<std::int32_t> devices;
  for (const std::int64_t device : reader.integers("devices")) {
    if (device < 0 || device >= kMostDevices) {
      reader.reject("devices", fmt::format("{} is not a device; they count from 0", device));
      return {};
    }
    devices.push_back(static_cast<std::int32_t>(device));
  }
  const std::int64_t needed = std::int64_t{stage.dp} * stage.tp * cp;
  if (!reader.failed() && !devices.empty() && static_cast<std::int64_t>(devices.size()) != needed) {
    reader.reject("devices",
                  fmt::format("lists {} devices, but dp {} x tp {} x cp {} needs {}",
                              devices.size(),
                              stage.dp,
                              stage.tp,
                              cp,
                              needed));
  }
  return devices;
}

StagePlan read_stage(JsonReader& reader,
                     const Scalars& defaults,
                     std::int32_t next_layer,
                     std::int32_t cp) {
  StagePlan stage;
  stage.first_layer = next_layer;
  if (reader.has("first_layer")) {
    const std::int64_t first = reader.integer("first_layer");
    if (!reader.failed() && first != next_layer) {
      reader.reject(
          "first_layer",
          fmt::format("is {}, but the stages before it end at layer {}: {} {}; write {}",
                      first,
                      next_layer,
                      first > next_layer ? "layers are lost from" : "layers are doubled from",
                      std::min<std::int64_t>(first, next_layer),
                      next_layer));
    }
  }
  stage.layers = reader.count("layers");
  stage.dp = reader.count_or("dp", defaults.dp);
  stage.tp = reader.count_or("tp", defaults.tp);
  stage.recompute = read_recompute(reader, defaults.recompute);
  if (reader.has("recompute_layers")) {
    const std::int64_t count = reader.integer("recompute_layers");
    if (!reader.failed() && (count < 0 || count > stage.layers)) {
      reader.reject("recompute_layers",
                    fmt::format("is {}; the stage has {} layers", count, stage.layers));
    } else {
      stage.recompute_layers = static_cast<std::int32_t>(count);
    }
  }
  stage.devices = read_devices(reader, stage, cp);
  return stage;
}

/// The plan file, key by key; errors are the reader's.
class PlanReader {
 public:
  PlanReader(JsonReader& reader, const nlohmann::json& json, std::optional<std::int32_t> layers)
      : reader_(reader), json_(json), layers_(layers) {}

  Plan read() {
    read_names();
    read_sizes();
    read_settings();
    read_stages();
    if (!reader_.failed()) {
      check_degrees();
      read_batch();
    }
    return std::move(plan_);
  }

 private:
  void read_names() {
    const std::int64_t version = reader_.integer("version");
    if (!reader_.failed() && version != kVersion) {
      reader_.reject("version",
                     fmt::format("is {}; this program reads version {}", version, kVersion));
    }
    plan_.model = reader_.text("model");
    plan_.model_hash = reader_.text_or("model_hash", "");
    plan_.cluster = reader_.text("cluster");
    plan_.made_by = read_texts(reader_, "made_by");
  }

  void read_sizes() {
    plan_.sequence = reader_.count("sequence");
    plan_.micro_batch_size = reader_.count_or("micro_batch_size", 1);
    plan_.virtual_stages = reader_.count_or("virtual_stages", 1);
    plan_.cp = reader_.count_or("cp", 1);
    plan_.ep = reader_.count_or("ep", 1);
    plan_.flushes = reader_.count_or("flushes", 1);
  }

  void read_settings() {
    plan_.schedule = reader_.text_or("schedule", plan_.schedule);
    plan_.schedule_parameters = read_integers(reader_, "schedule_parameters");
    if (reader_.has("recompute_placement")) {
      static const std::vector<std::string_view> kPlacements = {"backward", "ahead"};
      plan_.recompute_placement =
          static_cast<RecomputePlacement>(reader_.one_of("recompute_placement", kPlacements));
    }
    const std::int64_t zero = reader_.integer_or("zero_stage", 0);
    if (!reader_.failed() && (zero < 0 || zero > 3)) {
      reader_.reject("zero_stage", fmt::format("is {}; it is 0, 1, 2 or 3", zero));
    }
    plan_.zero_stage = static_cast<std::int32_t>(zero);
    plan_.gather_residency = read_distance("gather_residency", plan_.gather_residency);
    plan_.gather_prefetch = read_distance("gather_prefetch", plan_.gather_prefetch);
    plan_.sequence_parallel = reader_.boolean_or("sequence_parallel", false);
    if (reader_.has("bucket_size")) {
      plan_.bucket_size = reader_.bytes("bucket_size");
      if (!reader_.failed() && *plan_.bucket_size <= Bytes(0)) {
        reader_.reject("bucket_size", "must be more than 0; leave it out for one bucket a stage");
      }
    }
    reader_.object("precision",
                   [&](JsonReader& inner) { plan_.precision = read_precision(inner); });
    const auto optimizer = json_.find("optimizer");
    const bool clips_nothing = optimizer != json_.end() && optimizer->is_object() &&
                               optimizer->contains("clip_norm") &&
                               (*optimizer)["clip_norm"].is_null();
    reader_.object("optimizer", [&](JsonReader& inner) {
      plan_.optimizer = read_optimizer(inner, clips_nothing);
    });
    plan_.rank_order = read_rank_order(reader_, plan_.rank_order);
  }

  /// So many compute actions.
  std::int32_t read_distance(std::string_view key, std::int32_t fallback) {
    const std::int64_t distance = reader_.integer_or(key, fallback);
    if (!reader_.failed() && (distance < 0 || distance > kMostDevices)) {
      reader_.reject(key, fmt::format("is {}; it counts compute actions, from 0 on", distance));
      return fallback;
    }
    return static_cast<std::int32_t>(distance);
  }

  void read_stages() {
    scalars_.dp = reader_.count_or("dp", 1);
    scalars_.tp = reader_.count_or("tp", 1);
    if (reader_.has("pp")) {
      scalars_.pp = reader_.count("pp");
    }
    scalars_.recompute = read_recompute(reader_, Recompute::kNone);
    if (reader_.has("stages")) {
      read_written_stages();
    } else if (!reader_.failed()) {
      expand_shorthand();
    }
  }

  void read_written_stages() {
    std::int64_t next = 0;
    reader_.objects("stages", [&](JsonReader& inner) {
      plan_.stages.push_back(
          read_stage(inner, scalars_, static_cast<std::int32_t>(next), plan_.cp));
      next += plan_.stages.back().layers;
      if (next > kMostDevices) {
        inner.reject("layers", fmt::format("leads to {} layers in total, too many", next));
        next = 0;
      }
    });
    if (reader_.failed()) {
      return;
    }
    const std::size_t stages = plan_.stages.size();
    if (stages == 0) {
      reader_.reject("stages", "is empty; a plan has at least one stage");
    } else if (stages % static_cast<std::size_t>(plan_.virtual_stages) != 0) {
      reader_.reject(
          "stages",
          fmt::format(
              "has {} entries, not a multiple of virtual_stages {}", stages, plan_.virtual_stages));
    } else if (scalars_.pp && *scalars_.pp != plan_.pp()) {
      reader_.reject(
          "pp",
          fmt::format(
              "is {}, but stages / virtual_stages is {}; leave pp out", *scalars_.pp, plan_.pp()));
    } else if (layers_ && next != *layers_) {
      reader_.reject(
          "stages",
          fmt::format("hold {} layers in total, but the model has {} (embedding and head "
                      "count): {} {}",
                      next,
                      *layers_,
                      next < *layers_ ? *layers_ - next : next - *layers_,
                      next < *layers_ ? "are lost" : "are too many"));
    }
  }

  void expand_shorthand() {
    if (!layers_) {
      reader_.reject("stages",
                     "is absent, and without the model its layers cannot be divided evenly; write "
                     "the stages out");
      return;
    }
    const std::int64_t stages = std::int64_t{scalars_.pp.value_or(1)} * plan_.virtual_stages;
    if (stages > *layers_) {
      reader_.reject("pp",
                     fmt::format("is {}{}: {} stages, but the model has {} layers (embedding and "
                                 "head count); use {} stages or fewer",
                                 scalars_.pp.value_or(1),
                                 plan_.virtual_stages > 1
                                     ? fmt::format(" with virtual_stages {}", plan_.virtual_stages)
                                     : "",
                                 stages,
                                 *layers_,
                                 *layers_));
      return;
    }
    plan_.stages =
        even_stages(*layers_, static_cast<std::int32_t>(stages), scalars_.dp, scalars_.tp);
    for (StagePlan& stage : plan_.stages) {
      stage.recompute = scalars_.recompute;
    }
  }

  void check_degrees() {
    std::int64_t devices = 0;
    for (const StagePlan& stage : plan_.stages) {
      // Each factor is below 2^31: compare by division so that nothing overflows.
      const std::int64_t replica = std::int64_t{stage.tp} * plan_.cp;
      if (replica > kMostDevices || stage.dp > kMostDevices / replica) {
        devices = kMostDevices + 1;
        break;
      }
      devices += replica * stage.dp;
    }
    if (devices / plan_.virtual_stages > kMostDevices) {
      reader_.reject("stages",
                     fmt::format("need more than the {} devices that are supported; check dp, tp, "
                                 "cp and pp",
                                 kMostDevices));
    }
  }

  /// micro_batches, or the global batch that it follows from.
  void read_batch() {
    if (!reader_.has("global_batch")) {
      plan_.micro_batches = reader_.count("micro_batches");
    } else {
      const std::int64_t batch = reader_.positive("global_batch");
      const std::int64_t written = reader_.positive_or("micro_batches", 0);
      const auto dp = plan_.uniform_dp();
      if (!dp) {
        reader_.reject("global_batch", "needs equal dp in all stages; write micro_batches instead");
      } else if (!reader_.failed()) {
        divide_batch(batch, std::int64_t{*dp} * plan_.micro_batch_size, written);
      }
    }
    if (!reader_.failed() && plan_.micro_batches % plan_.flushes != 0) {
      reader_.reject(
          "flushes",
          fmt::format(
              "is {}, which does not divide {} micro_batches", plan_.flushes, plan_.micro_batches));
    }
  }

  void divide_batch(std::int64_t batch, std::int64_t per_micro_batch, std::int64_t written) {
    const std::int64_t count = batch / per_micro_batch;
    if (batch % per_micro_batch != 0) {
      reader_.reject("global_batch",
                     fmt::format("is {}, not divisible by dp x micro_batch_size = {}; {} or {} "
                                 "would do",
                                 batch,
                                 per_micro_batch,
                                 std::max<std::int64_t>(count, 1) * per_micro_batch,
                                 (std::max<std::int64_t>(count, 1) + 1) * per_micro_batch));
    } else if (written != 0 && written != count) {
      reader_.reject(
          "micro_batches",
          fmt::format(
              "is {}, but global_batch {} needs {}; leave one of them out", written, batch, count));
    } else if (count > kMostDevices) {
      reader_.reject("global_batch", fmt::format("leads to {} micro-batches, too many", count));
    } else {
      plan_.micro_batches = static_cast<std::int32_t>(count);
    }
  }

  JsonReader& reader_;
  const nlohmann::json& json_;
  std::optional<std::int32_t> layers_;
  Scalars scalars_;
  Plan plan_;
};

}  // namespace

Result<PlanNames> parse_plan_names(std::string_view text, std::string_view where) {
  auto json = parse_json(text, where);
  if (!json) {
    return pass_on(std::move(json));
  }
  JsonReader reader(*json, std::string(where));
  PlanNames names{reader.text("model"), reader.text("cluster")};
  if (json->is_object()) {
    for (const auto& item : json->items()) {
      reader.ignore(item.key());
    }
  }
  if (auto done = reader.finish(); !done) {
    return pass_on(std::move(done));
  }
  return names;
}

Result<Plan> parse_plan(std::string_view text,
                        std::string_view where,
                        std::optional<std::int32_t> layers) {
  auto json = parse_json(text, where);
  if (!json) {
    return pass_on(std::move(json));
  }
  JsonReader reader(*json, std::string(where));
  Plan plan = PlanReader(reader, *json, layers).read();
  if (auto done = reader.finish(); !done) {
    return pass_on(std::move(done));
  }
  return plan;
}

}  // namespace stagewright
