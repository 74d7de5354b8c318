#include <nlohmann/json.hpp>

#include "sim/analysis/compare.h"

namespace stagewright {
namespace {

using nlohmann::json;

/// Seconds, and the error as a fraction where something was measured.
json to_json(const TimePair& pair) {
  json object = {{"predicted_s", to_seconds(pair.predicted)},
                 {"measured_s", to_seconds(pair.measured)}};
  if (const auto error = pair.error()) {
    object["error"] = *error;
  }
  return object;
}

json to_json(const KindComparison& kind) {
  return {{"kind", kind.kind},
          {"count", kind.count},
          {"total", to_json(kind.total)},
          {"mean_absolute_error", kind.mean_absolute_error}};
}

json to_json(const RankComparison& rank) {
  return {{"rank", rank.rank.value()},
          {"busy", to_json(rank.busy)},
          {"end", to_json(rank.end)},
          {"predicted_bubble", rank.predicted_bubble},
          {"measured_bubble", rank.measured_bubble},
          {"predicted_memory_bytes", rank.predicted_memory.count()},
          {"measured_memory_bytes", rank.measured_memory.count()}};
}

json to_json(const ActionComparison& action) {
  return {{"rank", action.rank.value()},
          {"action", action.action_index},
          {"kind", name_of(action.kind)},
          {"stage", action.stage.value()},
          {"micro_batch", action.micro_batch.value()},
          {"start", to_json(action.start)},
          {"duration", to_json(action.duration)},
          {"own_error_s", to_seconds(action.own_error())},
          {"inherited_error_s", to_seconds(action.inherited_error())}};
}

json to_json(const MemoryComparison& memory) {
  return {{"class", name_of(memory.tensor_class)},
          {"predicted_bytes", memory.predicted.count()},
          {"measured_bytes", memory.measured.count()}};
}

json to_json(const StepEffect& effect) {
  return {{"kind", effect.kind}, {"effect_s", to_seconds(effect.effect)}};
}

json to_json(const CauseComparison& cause) {
  return {{"cause", name_of(cause.cause)},
          {"predicted", cause.predicted},
          {"measured", cause.measured}};
}

template <class Row>
json to_json(const std::vector<Row>& rows) {
  json array = json::array();
  for (const Row& row : rows) {
    array.push_back(to_json(row));
  }
  return array;
}

}  // namespace

std::string to_json_text(const Comparison& comparison) {
  const json object = {{"step", to_json(comparison.step)},
                       {"predicted_clock", comparison.predicted_clock},
                       {"measured_clock", comparison.measured_clock},
                       {"step_error", comparison.step_error},
                       {"step_effects", to_json(comparison.effects)},
                       {"repeat_spread", comparison.repeat_spread},
                       {"measured_steps", comparison.measured_steps},
                       {"worst_error", comparison.worst_error},
                       {"actions", to_json(comparison.actions)},
                       {"operations", to_json(comparison.operations)},
                       {"ranks", to_json(comparison.ranks)},
                       {"bubble_causes", to_json(comparison.causes)},
                       {"worst", to_json(comparison.worst)},
                       {"memory", to_json(comparison.memory)},
                       {"only_predicted", comparison.only_predicted},
                       {"only_measured", comparison.only_measured}};
  return object.dump(2) + "\n";
}

}  // namespace stagewright
