#include "formats/kineto.h"

#include <string>

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "formats/gzip.h"
#include "tests/support/case_files.h"

namespace stagewright {
namespace {

const std::string kOp =
    R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":7,"ts":12.5,"dur":3})";

std::string error_of(const std::string& text) {
  const auto trace = parse_kineto(text, "trace.json");
  return trace ? "no error" : trace.error().to_string();
}

TEST(Kineto, ReadsOperationsWithWhatTheyCarry) {
  const auto trace = parse_kineto(R"({"schemaVersion": 1,
    "deviceProperties": [{"id": 0, "name": "A card", "limits": [1, 2]}],
    "traceEvents": [
      {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "ts": 0, "args": {"name": "python"}},
      {"ph": "X", "cat": "cpu_op", "name": "aten::embedding", "pid": 7, "tid": 7,
       "ts": 100, "dur": 4, "args": {"External id": 1, "Sequence number": 12, "Fwd thread id": 0,
         "Input Dims": [[2048, 64], [2, 8], [], [[3], [4]]],
         "Input type": ["float", "long int", "Scalar", ""]}},
      {"ph": "X", "cat": "cpu_op", "name": "AddBackward0", "pid": 7, "tid": 9, "ts": 90.25,
       "dur": 4.5, "args": {"Sequence number": 11, "Fwd thread id": 1}},
      {"ph": "X", "cat": "cpu_op", "pid": 7, "tid": 9, "ts": 95, "dur": 1,
       "name": "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
       "args": {"Sequence number": 18446744073709551615}}]})",
                                  "trace.json");
  ASSERT_TRUE(trace.has_value()) << trace.error().to_string();
  EXPECT_FALSE(trace->cut_off);
  EXPECT_EQ(trace->devices, std::vector<std::string>{"A card"});
  ASSERT_EQ(trace->ops.size(), 3U);
  const KinetoOp& add = trace->ops[0];
  EXPECT_EQ(add.name, "AddBackward0");
  EXPECT_EQ(add.begin_us, 90.25);
  EXPECT_EQ(add.duration_us, 4.5);
  EXPECT_EQ(add.sequence, 11);
  EXPECT_TRUE(add.backward);
  EXPECT_EQ(trace->ops[1].sequence, std::nullopt);
  EXPECT_TRUE(trace->ops[1].backward);
  EXPECT_EQ(trace->ops[1].thread, add.thread);
  const KinetoOp& embedding = trace->ops[2];
  EXPECT_FALSE(embedding.backward);
  EXPECT_NE(embedding.thread, add.thread);
  EXPECT_EQ(embedding.input_dims,
            (std::vector<std::vector<std::int64_t>>{{2048, 64}, {2, 8}, {}, {}}));
  EXPECT_EQ(embedding.input_types, (std::vector<std::string>{"float", "long int", "Scalar", ""}));
}

TEST(Kineto, TellsModulesRangesLaunchesAndKernelsApart) {
  const auto trace = parse_kineto("[" + kOp + R"(,
    {"ph":"X","cat":"python_function","name":"nn.Module: Block_3","pid":7,"tid":7,"ts":2,"dur":9},
    {"ph":"X","cat":"python_function","name":"model.py: forward","pid":7,"tid":7,"ts":3,"dur":1},
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#4","pid":7,"tid":7,"ts":1,"dur":99},
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":7,"ts":5,"dur":1,
     "args":{"cbid":211,"correlation":31}},
    {"ph":"X","cat":"kernel","name":"sgemm","pid":0,"tid":7,"ts":8,"dur":40,
     "args":{"stream":7,"correlation":31}},
    {"ph":"X","cat":"gpu_memset","name":"Memset","pid":0,"tid":7,"ts":60,"dur":2,
     "args":{"correlation":32}},
    {"ph":"f","cat":"ac2g","name":"ac2g","id":31,"pid":0,"tid":7,"ts":8}])",
                                  "trace.json");
  ASSERT_TRUE(trace.has_value()) << trace.error().to_string();
  ASSERT_EQ(trace->modules.size(), 1U);
  EXPECT_EQ(trace->modules[0].name, "Block_3");
  EXPECT_EQ(trace->modules[0].thread, trace->ops[0].thread);
  ASSERT_EQ(trace->annotations.size(), 1U);
  EXPECT_EQ(trace->annotations[0].name, "ProfilerStep#4");
  ASSERT_EQ(trace->launches.size(), 1U);
  EXPECT_EQ(trace->launches[0].correlation, 31);
  ASSERT_EQ(trace->kernels.size(), 2U);
  EXPECT_EQ(trace->kernels[0].duration_us, 40);
  EXPECT_EQ(trace->kernels[1].correlation, 32);
}

TEST(Kineto, PassesOverEventsWithoutATime) {
  const auto trace = parse_kineto("[" + kOp + R"(,
    {"ph":"X","cat":"cpu_op","name":"a","pid":7,"tid":7,"ts":"12","dur":3},
    {"ph":"X","cat":"cpu_op","name":"b","pid":7,"tid":7,"ts":12},
    {"ph":"X","cat":"cpu_op","name":"c","pid":7,"tid":7,"ts":12,"dur":-1},
    {"ph":"B","cat":"cpu_op","name":"d","pid":7,"tid":7,"ts":12,"dur":1}, 7, null, []])",
                                  "trace.json");
  ASSERT_TRUE(trace.has_value()) << trace.error().to_string();
  EXPECT_EQ(trace->ops.size(), 1U);
}

TEST(Kineto, KeepsWhatCameBeforeTheEndOfAFileThatIsCutOff) {
  const std::string whole = R"({"traceEvents": [)" + kOp + "," + kOp + "]}";
  const std::size_t first = whole.find(kOp) + kOp.size();
  for (std::size_t size = first; size < whole.size(); ++size) {
    const auto trace = parse_kineto(whole.substr(0, size), "trace.json");
    ASSERT_TRUE(trace.has_value()) << size << ": " << trace.error().to_string();
    EXPECT_TRUE(trace->cut_off) << size;
    EXPECT_EQ(trace->ops.size(), size < first + 1 + kOp.size() ? 1U : 2U) << size;
  }
}

TEST(Kineto, SaysWhereItIsNoTrace) {
  EXPECT_EQ(error_of("{\"traceEvents\": [\n" + kOp + ",\n{\"ph\": X}]}").substr(0, 46),
            "trace.json: is not JSON at byte 105 (line 3): ");
  EXPECT_NE(error_of("").find("before it ends too early"), std::string::npos);
  EXPECT_NE(error_of("[[0, 1], [2, 3]]").find("holds no operation of PyTorch"), std::string::npos);
  EXPECT_NE(error_of(R"({"traceEvents": {"ph": "X"}})").find("holds no operation"),
            std::string::npos);
  EXPECT_NE(error_of("[1e999]").find("is not JSON"), std::string::npos);
}

TEST(Kineto, ReadsRealTraces) {
  const auto folder = case_files();
  if (!folder || !std::filesystem::exists(*folder / "trace")) {
    GTEST_SKIP() << "the case files are not there; set STAGEWRIGHT_CASE_FILES";
  }
  int read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*folder / "trace")) {
    const std::string name = entry.path().filename().string();
    auto content = unpacked(read_file(entry.path()).value(), name);
    if (!content && content.error().code == ErrorCode::kUnsupported) {
      GTEST_SKIP() << "this build has no zlib";
    }
    ASSERT_TRUE(content.has_value()) << content.error().to_string();
    const auto trace = parse_kineto(*content, name);
    if (name.starts_with("memory_timeline")) {
      EXPECT_FALSE(trace.has_value());
      continue;
    }
    ASSERT_TRUE(trace.has_value()) << trace.error().to_string();
    EXPECT_FALSE(trace->cut_off) << name;
    EXPECT_FALSE(trace->ops.empty()) << name;
    ++read;
  }
  EXPECT_GE(read, 5);
}

}  // namespace
}  // namespace stagewright
