#include <nlohmann/json.hpp>

#include "core/plan/plan.h"

namespace stagewright {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const StagePlan& stage) {
  ordered_json json = {{"first_layer", stage.first_layer},
                       {"layers", stage.layers},
                       {"dp", stage.dp},
                       {"tp", stage.tp},
                       {"recompute", name_of(stage.recompute)}};
  if (stage.recompute_layers) {
    json["recompute_layers"] = *stage.recompute_layers;
  }
  if (!stage.devices.empty()) {
    json["devices"] = stage.devices;
  }
  return json;
}

ordered_json to_json(const PrecisionPlan& precision) {
  ordered_json json = {{"compute", name_of(precision.compute)},
                       {"gradient", name_of(precision.gradient)},
                       {"master_weights", precision.master_weights}};
  if (precision.transfer) {
    json["transfer"] = name_of(*precision.transfer);
  }
  return json;
}

ordered_json to_json(const OptimizerSpec& optimizer) {
  return {{"kind", name_of(optimizer.kind)},
          {"learning_rate", optimizer.learning_rate},
          {"momentum", optimizer.momentum},
          {"beta1", optimizer.beta1},
          {"beta2", optimizer.beta2},
          {"epsilon", optimizer.epsilon},
          {"weight_decay", optimizer.weight_decay},
          {"clip_norm", optimizer.clip_norm ? ordered_json(*optimizer.clip_norm) : ordered_json()}};
}

}  // namespace

std::string to_json_text(const Plan& plan) {
  ordered_json json = {{"version", 1}, {"model", plan.model}};
  if (!plan.model_hash.empty()) {
    json["model_hash"] = plan.model_hash;
  }
  json["cluster"] = plan.cluster;
  json["sequence"] = plan.sequence;
  json["micro_batch_size"] = plan.micro_batch_size;
  json["micro_batches"] = plan.micro_batches;
  json["flushes"] = plan.flushes;
  json["schedule"] = plan.schedule;
  if (!plan.schedule_parameters.empty()) {
    json["schedule_parameters"] = plan.schedule_parameters;
  }
  json["virtual_stages"] = plan.virtual_stages;
  json["cp"] = plan.cp;
  json["ep"] = plan.ep;
  json["recompute_placement"] = name_of(plan.recompute_placement);
  json["zero_stage"] = plan.zero_stage;
  json["gather_residency"] = plan.gather_residency;
  json["gather_prefetch"] = plan.gather_prefetch;
  json["sequence_parallel"] = plan.sequence_parallel;
  if (plan.bucket_size) {
    json["bucket_size"] = to_exact_string(*plan.bucket_size);
  }
  json["precision"] = to_json(plan.precision);
  json["optimizer"] = to_json(plan.optimizer);
  json["rank_order"] = plan.rank_order;
  json["stages"] = ordered_json::array();
  for (const StagePlan& stage : plan.stages) {
    json["stages"].push_back(to_json(stage));
  }
  if (!plan.made_by.empty()) {
    json["made_by"] = plan.made_by;
  }
  return json.dump(2) + "\n";
}

}  // namespace stagewright
