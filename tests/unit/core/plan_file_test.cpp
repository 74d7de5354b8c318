#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/plan/plan.h"
#include "tests/support/source_folder.h"

namespace stagewright {
namespace {

using nlohmann::json;

/// A plan that uses every field.
Plan full_plan() {
  Plan plan;
  plan.model = "llama3-70b";
  plan.model_hash = "0123456789abcdef";
  plan.cluster = "2x8xh100-sxm";
  plan.stages = {{0, 3, 2, 2, Recompute::kFull, 2, {0, 1, 2, 3, 4, 5, 6, 7}},
                 {3, 4, 2, 2, Recompute::kSelective, {}, {8, 9, 10, 11, 12, 13, 14, 15}},
                 {7, 1, 2, 2, Recompute::kNone, {}, {}},
                 {8, 2, 2, 2, Recompute::kNone, 0, {}}};
  plan.virtual_stages = 2;
  plan.cp = 2;
  plan.ep = 1;
  plan.sequence = 4096;
  plan.micro_batch_size = 2;
  plan.micro_batches = 12;
  plan.flushes = 3;
  plan.schedule = "interleaved";
  plan.schedule_parameters = {{"group", 4}};
  plan.recompute_placement = RecomputePlacement::kAhead;
  plan.zero_stage = 1;
  plan.gather_residency = 2;
  plan.gather_prefetch = 3;
  plan.sequence_parallel = true;
  plan.bucket_size = 25_MiB;
  plan.precision = {DType::kFloat16, DType::kBFloat16, false, DType::kFloat8};
  plan.optimizer = {OptimizerKind::kSgd, 0.1, 0.9, 0.8, 0.99, 1e-6, 0.0, {}};
  plan.rank_order = {"pp", "tp", "dp", "cp"};
  plan.made_by = {{"command", "plan"}, {"program", "0.1.0"}};
  return plan;
}

json shorthand() {
  return json::parse(R"({"version": 1, "model": "m", "cluster": "8xh100", "sequence": 128,
                         "micro_batches": 4, "dp": 2, "tp": 2, "pp": 2})");
}

std::string error_of(const json& plan, std::optional<std::int32_t> layers = 10) {
  const auto read = parse_plan(plan.dump(), "p.json", layers);
  return read ? "" : read.error().to_string();
}

/// The difference that one key makes.
std::string error_with(const std::string& key, const json& value) {
  json plan = shorthand();
  plan[key] = value;
  return error_of(plan);
}

TEST(PlanFile, EveryFieldIsReadBack) {
  const Plan plan = full_plan();
  const auto read = parse_plan(to_json_text(plan), "p.json", 10);
  ASSERT_TRUE(read.has_value()) << read.error().to_string();
  EXPECT_EQ(*read, plan);
}

TEST(PlanFile, ScalarsStandForEvenStages) {
  json written = shorthand();
  written["recompute"] = "full";
  const auto plan = parse_plan(written.dump(), "p.json", 7);
  ASSERT_TRUE(plan.has_value()) << plan.error().to_string();
  Plan expected;
  expected.model = "m";
  expected.cluster = "8xh100";
  expected.sequence = 128;
  expected.micro_batches = 4;
  expected.stages = {{0, 4, 2, 2, Recompute::kFull, {}, {}},
                     {4, 3, 2, 2, Recompute::kFull, {}, {}}};
  EXPECT_EQ(*plan, expected);
}

TEST(PlanFile, ScalarsAreDefaultsOfWrittenStages) {
  json written = shorthand();
  written["stages"] =
      json::parse(R"([{"layers": 7}, {"layers": 3, "tp": 1, "recompute": "full"}])");
  const auto plan = parse_plan(written.dump(), "p.json");
  ASSERT_TRUE(plan.has_value()) << plan.error().to_string();
  EXPECT_EQ(plan->stages,
            (std::vector<StagePlan>{{0, 7, 2, 2, Recompute::kNone, {}, {}},
                                    {7, 3, 2, 1, Recompute::kFull, {}, {}}}));
}

TEST(PlanFile, TheGlobalBatchGivesTheMicroBatches) {
  json written = shorthand();
  written.erase("micro_batches");
  written["global_batch"] = 24;
  written["micro_batch_size"] = 3;
  EXPECT_EQ(parse_plan(written.dump(), "p.json", 7)->micro_batches, 4);
  written["global_batch"] = 25;
  EXPECT_EQ(
      error_of(written),
      "p.json:/global_batch: is 25, not divisible by dp x micro_batch_size = 6; 24 or 30 would "
      "do");
  written["global_batch"] = 24;
  written["micro_batches"] = 5;
  EXPECT_EQ(error_of(written),
            "p.json:/micro_batches: is 5, but global_batch 24 needs 4; leave one of them out");
}

TEST(PlanFile, LayersAreNeitherLostNorDoubled) {
  json plan = shorthand();
  plan["stages"] =
      json::parse(R"([{"first_layer": 0, "layers": 4}, {"first_layer": 5, "layers": 5}])");
  EXPECT_EQ(
      error_of(plan),
      "p.json:/stages/1/first_layer: is 5, but the stages before it end at layer 4: layers are "
      "lost from 4; write 4");
  plan["stages"][1]["first_layer"] = 3;
  EXPECT_EQ(
      error_of(plan),
      "p.json:/stages/1/first_layer: is 3, but the stages before it end at layer 4: layers are "
      "doubled from 3; write 4");
  plan["stages"][1]["first_layer"] = 4;
  EXPECT_EQ(error_of(plan),
            "p.json:/stages: hold 9 layers in total, but the model has 10 (embedding and head "
            "count): 1 are lost");
  plan["stages"][1]["layers"] = 8;
  EXPECT_EQ(error_of(plan),
            "p.json:/stages: hold 12 layers in total, but the model has 10 (embedding and head "
            "count): 2 are too many");
}

TEST(PlanFile, ImpossibleSizesAreNamed) {
  EXPECT_EQ(error_with("tp", 0), "p.json:/tp: is 0; it must be 1 or more");
  EXPECT_EQ(error_with("micro_batches", -4), "p.json:/micro_batches: is -4; it must be 1 or more");
  EXPECT_EQ(error_with("sequence", 1.5), "p.json:/sequence: expected an integer, found 1.5");
  EXPECT_EQ(error_with("dp", 4294967297),
            "p.json:/dp: is 4294967297; it must be 2147483647 or less");
  EXPECT_EQ(error_with("pp", 11),
            "p.json:/pp: is 11: 11 stages, but the model has 10 layers (embedding and head count); "
            "use 10 stages or fewer");
  EXPECT_EQ(error_with("flushes", 3),
            "p.json:/flushes: is 3, which does not divide 4 micro_batches");
  EXPECT_EQ(error_with("zero_stage", 4), "p.json:/zero_stage: is 4; it is 0, 1, 2 or 3");
  EXPECT_EQ(error_with("gather_prefetch", -1),
            "p.json:/gather_prefetch: is -1; it counts compute actions, from 0 on");
  EXPECT_EQ(error_with("stages", json::array()),
            "p.json:/stages: is empty; a plan has at least one stage");
  EXPECT_EQ(error_with("dp", 2000000000),
            "p.json:/stages: need more than the 10000000 devices that are supported; check dp, tp, "
            "cp and pp");
  json plan = shorthand();
  plan["stages"] = json::parse(R"([{"layers": 5, "devices": [0, 1, 2]}, {"layers": 5}])");
  EXPECT_EQ(error_of(plan),
            "p.json:/stages/0/devices: lists 3 devices, but dp 2 x tp 2 x cp 1 needs 4");
  plan["stages"][0]["devices"] = {0, 1, 2, -1};
  EXPECT_EQ(error_of(plan), "p.json:/stages/0/devices: -1 is not a device; they count from 0");
}

TEST(PlanFile, NamesThatMeanNothingAreErrorsWithASuggestion) {
  EXPECT_EQ(error_with("micro_batchs", 3),
            "p.json:/micro_batchs: unknown key 'micro_batchs'; did you mean 'micro_batches'?");
  EXPECT_EQ(error_with("recompute", "ful"),
            "p.json:/recompute: 'ful' is not known; did you mean 'full'?");
  EXPECT_EQ(
      error_with("precision", {{"compute", "bf61"}}),
      "p.json:/precision/compute: 'bf61' is not an element type; known: fp32, tf32, bf16, fp16, "
      "fp8, int32");
  EXPECT_EQ(
      error_with("rank_order", {"tp", "cp", "dp", "dp"}),
      "p.json:/rank_order: must hold each of tp, cp, dp, pp once, fastest first; it holds [tp, "
      "cp, dp, dp]");
  EXPECT_EQ(error_with("version", 2), "p.json:/version: is 2; this program reads version 1");
  EXPECT_EQ(error_with("optimizer", {{"clip_norm", 0}}),
            "p.json:/optimizer/clip_norm: is 0; write null for no clipping");
  json plan = shorthand();
  plan.erase("sequence");
  plan["sequense"] = 128;
  EXPECT_EQ(error_of(plan),
            "p.json:/sequence: is required but absent; add it (or is 'sequense' a slip for it?)");
}

TEST(PlanFile, ShorthandNeedsTheModel) {
  EXPECT_EQ(error_of(shorthand(), {}),
            "p.json:/stages: is absent, and without the model its layers cannot be divided evenly; "
            "write the stages out");
  EXPECT_EQ(*parse_plan_names(shorthand().dump(), "p.json"), (PlanNames{"m", "8xh100"}));
}

TEST(PlanFile, TextThatIsNotAPlanIsAnError) {
  EXPECT_NE(error_of(json::array()).find("expected an object"), std::string::npos);
  const auto truncated = parse_plan(R"({"version": 1, "model":)", "p.json");
  ASSERT_FALSE(truncated.has_value());
  EXPECT_NE(truncated.error().to_string().find("p.json: not valid JSON at line 1"),
            std::string::npos);
}

/// Complaints about `value` by the parts of JSON Schema that the plan's schema uses.
class SchemaCheck {
 public:
  std::vector<std::string> complaints;

  void check(const json& schema, const json& value, const std::string& path) {
    if (schema.contains("type") && !has_type(schema["type"], value)) {
      complaints.push_back(fmt::format("{}: not {}", path, schema["type"].dump()));
      return;
    }
    if (schema.contains("const") && schema["const"] != value) {
      complaints.push_back(fmt::format("{}: not {}", path, schema["const"].dump()));
    }
    if (schema.contains("enum") &&
        std::ranges::find(schema["enum"], value) == schema["enum"].end()) {
      complaints.push_back(fmt::format("{}: not in {}", path, schema["enum"].dump()));
    }
    if (value.is_number()) {
      check_number(schema, value.get<double>(), path);
    } else if (value.is_array() && schema.contains("items")) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        check(schema["items"], value[i], fmt::format("{}/{}", path, i));
      }
    } else if (value.is_object()) {
      check_object(schema, value, path);
    }
  }

 private:
  static bool has_type(const json& type, const json& value) {
    if (type.is_array()) {
      return std::ranges::any_of(type, [&](const json& one) { return has_type(one, value); });
    }
    return type == "number"    ? value.is_number()
           : type == "integer" ? value.is_number_integer()
                               : type == value.type_name();
  }

  void check_number(const json& schema, double value, const std::string& path) {
    if (value < schema.value("minimum", -INFINITY) || value > schema.value("maximum", INFINITY) ||
        value <= schema.value("exclusiveMinimum", -INFINITY) ||
        value >= schema.value("exclusiveMaximum", INFINITY)) {
      complaints.push_back(fmt::format("{}: {} is out of range", path, value));
    }
  }

  void check_object(const json& schema, const json& value, const std::string& path) {
    for (const auto& key : schema.value("required", json::array())) {
      if (!value.contains(key)) {
        complaints.push_back(fmt::format("{}: no {}", path, key.dump()));
      }
    }
    const json properties = schema.value("properties", json::object());
    for (const auto& [key, item] : value.items()) {
      const std::string inner = fmt::format("{}/{}", path, key);
      if (properties.contains(key)) {
        check(properties[key], item, inner);
      } else if (schema.contains("additionalProperties") &&
                 schema["additionalProperties"].is_object()) {
        check(schema["additionalProperties"], item, inner);
      } else {
        complaints.push_back(inner + ": not in the schema");
      }
    }
  }
};

json schema() {
  return json::parse(*read_file(source_folder() / "docs" / "plan.schema.json"));
}

std::vector<std::string> schema_complaints(const json& plan) {
  SchemaCheck check;
  check.check(schema(), plan, "");
  return check.complaints;
}

TEST(PlanSchema, WhatTheWriterEmitsMatches) {
  EXPECT_EQ(schema_complaints(json::parse(to_json_text(full_plan()))), std::vector<std::string>{});
}

TEST(PlanSchema, WhatTheReaderRejectsDoesNot) {
  EXPECT_EQ(schema_complaints(shorthand()), std::vector<std::string>{});
  json plan = shorthand();
  plan["tp"] = 0;
  plan["stage"] = 1;
  EXPECT_EQ(schema_complaints(plan),
            (std::vector<std::string>{"/stage: not in the schema", "/tp: 0 is out of range"}));
}

TEST(PlanSchema, NamesEveryKeyThatTheReaderKnows) {
  // The reader lists what it knows when nothing is near the unknown key.
  const std::string error = error_with("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 1);
  const json properties = schema()["properties"];
  for (const auto& [key, value] : properties.items()) {
    EXPECT_NE(error.find(key), std::string::npos)
        << key << " is not known to the reader: " << error;
  }
  std::string known = error.substr(error.find("known: ") + 7);
  for (std::size_t end = 0; !known.empty(); known.erase(0, end == known.size() ? end : end + 2)) {
    end = std::min(known.find(", "), known.size());
    EXPECT_TRUE(properties.contains(known.substr(0, end))) << known.substr(0, end);
  }
}

TEST(PlanSchema, TheExamplesMatchAndAreRead) {
  int plans = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() / "examples")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".plan.json")) {
      continue;
    }
    ++plans;
    const std::string text = *read_file(entry.path());
    EXPECT_EQ(schema_complaints(json::parse(text)), std::vector<std::string>{}) << name;
    const std::int32_t layers = name.starts_with("llama3-70b") ? 82 : 6;
    const auto plan = parse_plan(text, name, layers);
    EXPECT_TRUE(plan.has_value()) << plan.error().to_string();
  }
  EXPECT_GE(plans, 2);
}

}  // namespace
}  // namespace stagewright
