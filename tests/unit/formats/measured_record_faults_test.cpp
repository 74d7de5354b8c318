#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "formats/measured_record.h"

namespace stagewright {
namespace {

using nlohmann::json;

constexpr const char* kDense = R"({
  "dataset": "lab", "id": "lab-1", "framework": "megatron-core", "source": "a paper",
  "quality": "A", "notes": "", "flops_formula": null, "assumed_fields": ["model.vocab"],
  "model": {"name": "GPT", "layers": 24, "hidden": 2048, "heads": 16, "kv_heads": 16,
            "head_dim": 128, "ffn_hidden": 8192, "ffn_type": "gelu", "vocab": 51200,
            "seq_len": 2048, "tied_embeddings": true, "pos_emb": "learned_absolute", "moe": null,
            "params_b": 1.3},
  "cluster": {"gpu": "A100-80GB-SXM", "gpus": 16, "gpus_per_node": 8, "intra_link": "NVLink",
              "inter_link": "8x200Gb/s HDR InfiniBand per node"},
  "plan": {"dp": 2, "tp": 4, "pp": 2, "vpp": 2, "cp": 1, "ep": 1, "etp": 1,
           "sequence_parallel": true, "micro_batch": 4, "global_batch": 64,
           "num_micro_batches": 8, "zero_stage": 1, "zero_group": 2, "recompute": "full",
           "schedule": "1f1b-interleaved", "precision": "bf16", "flash_attention": true,
           "compile": false, "async_tp": false, "optimizer_offload": false, "optimizer": "adam",
           "activation_offload": false, "overlap_grad_reduce": true, "overlap_param_gather": true,
           "transformer_impl": "local", "attention_backend": "flash", "loss_fusion": true,
           "mp_mode": "PURE", "layers_first_stage": 12, "layers_last_stage": 12},
  "measured": {"iter_time_s": 2.0, "tokens_per_s": 65536, "tokens_per_gpu_s": 4096,
               "samples_per_s": 32, "tflops_per_gpu": 40, "mfu": 0.2, "hfu": 0.25,
               "memory_gb": 40, "memory_unit": "GiB", "memory_kind": "torch max reserved",
               "memory_allocated_steady_gib": 20, "oom": false},
  "derived": {"iter_time_s": 2.0, "tokens_per_s": 65536}})";

json dense() {
  return json::parse(kDense);
}

json sparse() {
  json record = dense();
  record["model"]["moe"] = {{"experts", 8},
                            {"topk", 2},
                            {"moe_ffn", 8192},
                            {"shared", 0},
                            {"shared_ffn", 0},
                            {"dense_layers", 0},
                            {"attention", "GQA"},
                            {"active_params_b", 1.9}};
  record["model"]["params_b"] = nullptr;
  record["measured"]["tflops_per_gpu"] = nullptr;
  return record;
}

RecordLine read(const std::string& text) {
  const auto lines = parse_measured_records(text);
  EXPECT_EQ(lines.size(), 1U);
  return lines.empty() ? RecordLine{} : lines.front();
}

/// A field ("plan.tp"; "model.moe.topk"; "quality") as a JSON pointer.
json::json_pointer pointer(std::string path) {
  for (char& letter : path) {
    letter = letter == '.' ? '/' : letter;
  }
  return json::json_pointer("/" + path);
}

struct Fault {
  const char* field;
  json value;
  const char* named = nullptr;  ///< the field that the reason names; null: the same
};

void expect_named(json record, const Fault& fault) {
  record[pointer(fault.field)] = fault.value;
  const RecordLine line = read(record.dump());
  EXPECT_FALSE(line.record) << fault.field << " = " << fault.value;
  const std::string named = fault.named == nullptr ? fault.field : fault.named;
  EXPECT_TRUE(line.skipped.starts_with(named + ": "))
      << fault.field << " = " << fault.value << " is skipped for: " << line.skipped;
}

std::vector<std::string> sizes() {
  std::vector<std::string> fields{"cluster.gpus", "cluster.gpus_per_node"};
  for (const char* key :
       {"layers", "hidden", "heads", "kv_heads", "head_dim", "ffn_hidden", "vocab", "seq_len"}) {
    fields.push_back(std::string("model.") + key);
  }
  for (const char* key : {"dp",
                          "tp",
                          "pp",
                          "vpp",
                          "cp",
                          "ep",
                          "etp",
                          "zero_group",
                          "micro_batch",
                          "global_batch",
                          "num_micro_batches"}) {
    fields.push_back(std::string("plan.") + key);
  }
  return fields;
}

std::vector<std::string> amounts() {
  std::vector<std::string> fields{"model.params_b", "derived.iter_time_s", "derived.tokens_per_s"};
  for (const char* key : {"iter_time_s",
                          "tokens_per_s",
                          "tokens_per_gpu_s",
                          "samples_per_s",
                          "tflops_per_gpu",
                          "mfu",
                          "hfu",
                          "memory_gb",
                          "memory_allocated_steady_gib"}) {
    fields.push_back(std::string("measured.") + key);
  }
  return fields;
}

TEST(MeasuredRecordFaults, TheRecordsThemselvesAreSound) {
  EXPECT_TRUE(read(dense().dump()).record) << read(dense().dump()).skipped;
  EXPECT_TRUE(read(sparse().dump()).record) << read(sparse().dump()).skipped;
}

TEST(MeasuredRecordFaults, SizesThatAreNoneAreNamed) {
  for (const std::string& field : sizes()) {
    for (const json& value : {json(-1),
                              json(0),
                              json(1.5),
                              json(1e30),
                              json(std::int64_t{1} << 62),
                              json("four"),
                              json(true),
                              json::array({4}),
                              json::object()}) {
      expect_named(dense(), {field.c_str(), value});
    }
  }
  for (const char* field : {"plan.zero_stage",
                            "plan.layers_first_stage",
                            "plan.layers_last_stage",
                            "model.moe.shared",
                            "model.moe.shared_ffn",
                            "model.moe.dense_layers"}) {
    for (const json& value : {json(-1), json(0.5), json(1e30), json("one"), json(false)}) {
      expect_named(sparse(), {field, value});
    }
  }
  for (const char* field : {"model.moe.experts", "model.moe.topk", "model.moe.moe_ffn"}) {
    for (const json& value : {json(-1), json(0), json(1e30), json("x"), json()}) {
      expect_named(sparse(), {field, value});
    }
  }
}

TEST(MeasuredRecordFaults, AmountsThatAreNoneAreNamed) {
  for (const std::string& field : amounts()) {
    for (const json& value :
         {json(-1), json(0), json(1e30), json("fast"), json(true), json::array()}) {
      expect_named(dense(), {field.c_str(), value});
    }
  }
}

TEST(MeasuredRecordFaults, WordsThatAreNoneAreNamed) {
  for (const char* field : {"dataset",
                            "id",
                            "framework",
                            "source",
                            "quality",
                            "notes",
                            "flops_formula",
                            "model.name",
                            "model.ffn_type",
                            "model.pos_emb",
                            "cluster.gpu",
                            "cluster.intra_link",
                            "cluster.inter_link",
                            "plan.recompute",
                            "plan.schedule",
                            "plan.precision",
                            "plan.optimizer",
                            "plan.transformer_impl",
                            "plan.attention_backend",
                            "plan.mp_mode",
                            "measured.memory_unit",
                            "measured.memory_kind"}) {
    for (const json& value :
         {json(-1), json(3.5), json(true), json::array({"a"}), json::object()}) {
      expect_named(dense(), {field, value});
    }
  }
  for (const char* field : {"framework", "dataset", "model.name", "cluster.gpu"}) {
    expect_named(dense(), {field, "-1"});
    expect_named(dense(), {field, "???"});
  }
  for (const char* field : {"quality",
                            "model.ffn_type",
                            "model.pos_emb",
                            "plan.recompute",
                            "plan.schedule",
                            "plan.precision",
                            "measured.memory_unit"}) {
    expect_named(dense(), {field, "abc"});
    expect_named(dense(), {field, ""});
  }
  expect_named(dense(), {"plan.recompute", "fullish"});
  expect_named(dense(), {"plan.precision", "int8"});
  expect_named(sparse(), {"model.moe.attention", "abc"});
  for (const char* field : {"cluster.intra_link", "cluster.inter_link", "plan.fsdp"}) {
    expect_named(dense(), {field, "-1"});
  }
  expect_named(dense(), {"plan.fsdp", 0});
  expect_named(dense(), {"derived.model_tflops_per_gpu_attn_full", -1});
  expect_named(dense(), {"assumed_fields", "model.vocab"});
  expect_named(dense(), {"assumed_fields", json::array({1})});
}

TEST(MeasuredRecordFaults, SwitchesThatAreNoneAreNamed) {
  for (const char* field : {"model.tied_embeddings",
                            "plan.sequence_parallel",
                            "plan.flash_attention",
                            "plan.compile",
                            "plan.async_tp",
                            "plan.optimizer_offload",
                            "plan.activation_offload",
                            "plan.overlap_grad_reduce",
                            "plan.overlap_param_gather",
                            "plan.loss_fusion",
                            "measured.oom"}) {
    for (const json& value : {json(1), json("true"), json::array()}) {
      expect_named(dense(), {field, value});
    }
  }
}

TEST(MeasuredRecordFaults, SectionsThatAreNoneAreNamed) {
  for (const char* section : {"model", "cluster", "plan", "measured", "derived", "model.moe"}) {
    expect_named(dense(), {section, "text"});
    expect_named(dense(), {section, json::array()});
  }
  for (const char* section : {"model", "cluster", "plan", "measured"}) {
    json record = dense();
    record.erase(section);
    EXPECT_EQ(read(record.dump()).skipped, std::string(section) + ": is required but absent");
  }
}

TEST(MeasuredRecordFaults, FieldsThatAreRequiredAreNamedWhereTheyAreAbsent) {
  for (const char* field : {"model.layers",
                            "model.hidden",
                            "model.ffn_hidden",
                            "model.ffn_type",
                            "model.vocab",
                            "model.seq_len",
                            "cluster.gpu",
                            "cluster.gpus",
                            "plan.tp",
                            "plan.pp",
                            "plan.global_batch",
                            "plan.precision",
                            "id",
                            "dataset"}) {
    json record = dense();
    const auto at = pointer(field);
    record[at.parent_pointer()].erase(at.back());
    EXPECT_EQ(read(record.dump()).skipped, std::string(field) + ": is not stated");
    expect_named(dense(), {field, nullptr});
  }
}

TEST(MeasuredRecordFaults, ContradictionsAreNamed) {
  const std::vector<Fault> faults{
      {"plan.dp", 3},
      {"plan.num_micro_batches", 9},
      {"plan.global_batch", 63},
      {"cluster.gpus", 12},
      {"cluster.gpus_per_node", 3},
      {"plan.vpp", 1, "plan.schedule"},
      {"plan.pp", 1, "plan.vpp"},
      {"plan.zero_group", 3},
      {"plan.layers_first_stage", 20},
      {"plan.ep", 2},
      {"model.heads", 3, "model.kv_heads"},
      {"model.heads", 8, "model.kv_heads"},
      {"model.kv_heads", 5},
      {"model.params_b", 13},
      {"model.params_b", 0.1},
      {"measured.tokens_per_s", 1000},
      {"measured.tokens_per_gpu_s", 65536},
      {"measured.samples_per_s", 2},
      {"measured.iter_time_s", 4.0, "measured.tokens_per_s"},
      {"measured.tflops_per_gpu", 400},
      {"measured.hfu", 0.1},
      {"measured.oom", true},
      {"derived.iter_time_s", 3.0},
  };
  for (const Fault& fault : faults) {
    expect_named(dense(), fault);
  }
  const std::vector<Fault> experts{{"plan.ep", 3},
                                   {"plan.ep", 16, "plan.ep"},
                                   {"model.moe.topk", 9},
                                   {"model.moe.dense_layers", 24}};
  for (const Fault& fault : experts) {
    expect_named(sparse(), fault);
  }
}

TEST(MeasuredRecordFaults, StagesThatTheLayersDoNotFillAreNamed) {
  json record = dense();
  record["plan"]["layers_first_stage"] = nullptr;
  record["plan"]["layers_last_stage"] = nullptr;
  expect_named(record, {"plan.vpp", 5});
  record["plan"]["vpp"] = nullptr;
  record["plan"]["schedule"] = "1f1b";
  record["model"]["params_b"] = nullptr;
  record["measured"]["tflops_per_gpu"] = nullptr;
  expect_named(record, {"model.layers", 1, "plan.pp"});
}

TEST(MeasuredRecordFaults, HeadsThatTensorParallelismCannotDivideAreNamed) {
  json record = dense();
  record["model"]["heads"] = 18;
  record["model"]["kv_heads"] = 18;
  expect_named(record, {"model.head_dim", 128, "plan.tp"});
}

TEST(MeasuredRecordFaults, NumbersThatJsonLacksAreNamed) {
  for (const char* word : {"NaN", "Infinity", "-Infinity"}) {
    std::string text = kDense;
    std::erase(text, '\n');
    const std::string before = R"("iter_time_s": 2.0)";
    text.replace(text.find(before), before.size(), std::string(R"("iter_time_s": )") + word);
    const RecordLine line = read(text);
    EXPECT_EQ(line.id, "lab-1");
    EXPECT_TRUE(line.skipped.starts_with("measured.iter_time_s: ")) << line.skipped;
  }
  std::string text = kDense;
  std::erase(text, '\n');
  text.replace(text.find("\"GPT\""), 5, R"("a \"NaN\" model")");
  EXPECT_EQ(read(text).record->model, "a \"NaN\" model");
}

TEST(MeasuredRecordFaults, UnknownOptionalFieldsAreNoFault) {
  for (const char* field : {"framework",
                            "model.heads",
                            "model.kv_heads",
                            "model.head_dim",
                            "model.tied_embeddings",
                            "model.pos_emb",
                            "model.params_b",
                            "cluster.gpus_per_node",
                            "cluster.intra_link",
                            "cluster.inter_link",
                            "plan.dp",
                            "plan.cp",
                            "plan.ep",
                            "plan.etp",
                            "plan.zero_group",
                            "plan.zero_stage",
                            "plan.sequence_parallel",
                            "plan.recompute",
                            "plan.micro_batch",
                            "plan.num_micro_batches",
                            "plan.flash_attention",
                            "measured.iter_time_s",
                            "measured.memory_gb",
                            "measured.memory_unit",
                            "measured.oom",
                            "derived"}) {
    json record = dense();
    record[pointer(field)] = nullptr;
    const RecordLine line = read(record.dump());
    EXPECT_TRUE(line.record) << field << ": " << line.skipped;
  }
}

// The number of micro-batches gives their size; null without it is the format's "unknown"; a field
// that is not there at all is a record that lacks it.
TEST(MeasuredRecordFaults, AMicroBatchFollowsOrIsUnknownOrLacking) {
  json record = dense();
  record["plan"]["micro_batch"] = nullptr;
  EXPECT_EQ(read(record.dump()).record->run.micro_batch, 4);
  record["plan"]["num_micro_batches"] = nullptr;
  EXPECT_TRUE(read(record.dump()).record->micro_batch_unknown);
  record["plan"].erase("micro_batch");
  EXPECT_EQ(read(record.dump()).skipped, "plan.micro_batch: is not stated");
}

TEST(MeasuredRecordFaults, ARecordWithoutAnyFigureIsNamed) {
  json record = dense();
  record["measured"] = json::object();
  record["derived"] = nullptr;
  EXPECT_EQ(read(record.dump()).skipped, "measured: holds neither a time nor memory nor oom");
}

}  // namespace
}  // namespace stagewright
