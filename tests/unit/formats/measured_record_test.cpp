#include "formats/measured_record.h"

#include <string>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

constexpr const char* kRecord = R"({
  "dataset": "lab", "id": "lab-1", "framework": "megatron-core", "source": "a paper", "quality": "A",
  "model": {"name": "GPT", "layers": 24, "hidden": 2048, "heads": 16, "kv_heads": 16,
            "ffn_hidden": 8192, "ffn_type": "gelu", "vocab": 51200, "seq_len": 2048,
            "tied_embeddings": true, "moe": null},
  "cluster": {"gpu": "A100-80GB-SXM", "gpus": 16, "gpus_per_node": 8,
              "inter_link": "8x200Gb/s HDR InfiniBand per node"},
  "plan": {"dp": 2, "tp": 4, "pp": 2, "micro_batch": 4, "global_batch": 64, "num_micro_batches": 8,
           "zero_stage": 1, "recompute": "full", "schedule": "1f1b", "precision": "bf16"},
  "measured": {"iter_time_s": 2.5, "memory_gb": 40, "memory_unit": "GiB",
               "memory_kind": "torch max reserved"}})";

/// The record on one line with one text replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string text = kRecord;
  std::erase(text, '\n');
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  return text;
}

RecordLine only(const std::string& text) {
  const auto lines = parse_measured_records(text);
  EXPECT_EQ(lines.size(), 1U);
  return lines.empty() ? RecordLine{} : lines.front();
}

std::string reason(const std::string& from, const std::string& to) {
  const RecordLine line = only(with(from, to));
  EXPECT_FALSE(line.record.has_value());
  return line.skipped;
}

TEST(MeasuredRecord, ReadsWhatWasTrainedHowAndWhatWasMeasured) {
  const RecordLine line = only(with("lab-1", "lab-1"));
  ASSERT_TRUE(line.record.has_value()) << line.skipped;
  const MeasuredRecord& record = *line.record;
  EXPECT_EQ(record.run.shape.head_dim, 128);
  EXPECT_EQ(record.run.dp, 2);
  EXPECT_EQ(record.run.micro_batches, 8);
  EXPECT_EQ(record.run.recompute, Recompute::kFull);
  EXPECT_EQ(record.iteration_seconds, 2.5);
  EXPECT_EQ(record.memory_bytes, 40.0 * 1073741824.0);
  EXPECT_EQ(record.memory_kind, MemoryKind::kReserved);
  EXPECT_EQ(record.run.sequence_parallel, std::nullopt);
}

TEST(MeasuredRecord, FollowsWhatTheRecordImplies) {
  // 131072 tokens a step.
  const RecordLine line = only(with(R"("iter_time_s": 2.5)", R"("tokens_per_s": 65536)"));
  ASSERT_TRUE(line.record.has_value()) << line.skipped;
  EXPECT_EQ(line.record->iteration_seconds, 2.0);
}

TEST(MeasuredRecord, NamesMissingFields) {
  EXPECT_EQ(reason(R"("tp": 4,)", ""), "plan.tp: is not stated");
  EXPECT_EQ(reason(R"("layers": 24,)", ""), "model.layers: is not stated");
  EXPECT_EQ(reason(R"("precision": "bf16")", R"("precision": null)"),
            "plan.precision: is not stated");
  EXPECT_EQ(reason(R"("gpu": "A100-80GB-SXM",)", ""), "cluster.gpu: is not stated");
}

TEST(MeasuredRecord, NamesNegativeAndAbsurdFields) {
  EXPECT_EQ(reason(R"("hidden": 2048)", R"("hidden": -2048)"),
            "model.hidden: -2048 is no size from 1 to 1000000");
  EXPECT_EQ(reason(R"("vocab": 51200)", R"("vocab": 1e30)"),
            "model.vocab: 1e+30 is no size from 1 to 16000000");
  EXPECT_EQ(reason(R"("iter_time_s": 2.5)", R"("iter_time_s": -1)"),
            "measured.iter_time_s: -1 is no number above 0 and up to 1e+06");
  EXPECT_EQ(reason(R"("micro_batch": 4)", R"("micro_batch": "four")"),
            "plan.micro_batch: \"four\" is no size from 1 to 1000000");
  EXPECT_EQ(reason(R"("zero_stage": 1)", R"("zero_stage": 7)"),
            "plan.zero_stage: 7 is no size from 0 to 3");
}

TEST(MeasuredRecord, NamesContradictions) {
  EXPECT_EQ(reason(R"("dp": 2)", R"("dp": 3)"), "plan.dp: 3 contradicts gpus / (tp pp cp) = 2");
  EXPECT_EQ(reason(R"("num_micro_batches": 8)", R"("num_micro_batches": 9)"),
            "plan.num_micro_batches: 9 contradicts global_batch / (dp micro_batch) = 8");
  EXPECT_EQ(reason(R"("gpus": 16)", R"("gpus": 12)"),
            "cluster.gpus: 12 are not a multiple of tp 4 x pp 2 x cp 1");
  EXPECT_EQ(reason(R"("iter_time_s": 2.5)", R"("iter_time_s": 2.5, "tokens_per_s": 1000)"),
            "measured.tokens_per_s: contradicts iter_time_s by more than 5 %");
  EXPECT_EQ(reason(R"("heads": 16)", R"("heads": 15)"),
            "model.heads: 15 do not divide hidden 2048");
}

TEST(MeasuredRecord, SkipsWhatIsTooUncertain) {
  EXPECT_EQ(reason(R"("quality": "A")", R"("quality": "C")"),
            "quality: C, too uncertain to be held against");
}

TEST(MeasuredRecord, ReadsOnAfterALineThatIsNoRecord) {
  const auto lines =
      parse_measured_records("{\"half\": \n\n[1, 2]\n" + with("lab-1", "lab-2") + "\n");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_FALSE(lines[0].record.has_value());
  EXPECT_NE(lines[0].skipped.find("not valid JSON"), std::string::npos) << lines[0].skipped;
  EXPECT_EQ(lines[1].skipped, "is no JSON object");
  ASSERT_TRUE(lines[2].record.has_value()) << lines[2].skipped;
  EXPECT_EQ(lines[2].id, "lab-2");
}

TEST(MeasuredRecord, StatesWhatItAssumes) {
  const RecordLine line = only(with(R"("heads": 16, "kv_heads": 16,)", ""));
  ASSERT_TRUE(line.record.has_value()) << line.skipped;
  EXPECT_EQ(line.record->run.shape.heads, 16);
  ASSERT_EQ(line.record->assumed.size(), 1U);
  EXPECT_EQ(line.record->assumed.front(), "model.heads (16: head size nearest 128)");
}

TEST(MeasuredRecord, ReadsAnEncoder) {
  const RecordLine line = only(
      with(R"("layers": 24)", R"("layers": 24, "encoder_layers": 12, "encoder_seq_len": 512)"));
  ASSERT_TRUE(line.record.has_value()) << line.skipped;
  EXPECT_EQ(line.record->run.encoder, (EncoderShape{.layers = 12, .sequence = 512}));
  EXPECT_EQ(reason(R"("layers": 24)", R"("layers": 24, "encoder_layers": 12)"),
            "model.encoder_seq_len: is not stated, but model.encoder_layers is");
  EXPECT_EQ(reason(R"("layers": 24)", R"("layers": 24, "encoder_seq_len": 512)"),
            "model.encoder_layers: is not stated, but model.encoder_seq_len is");
}

}  // namespace
}  // namespace stagewright
