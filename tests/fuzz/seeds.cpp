#include "seeds.h"

#include <filesystem>
#include <sstream>
#include <utility>

#include "core/base/check.h"
#include "core/base/file.h"
#include "core/plan/plan.h"
#include "core/profile/profile.h"
#include "core/schedule/schedule.h"
#include "core/trace/trace.h"
#include "formats/pytorch_csv.h"
#include "formats/schedule_vector.h"
#include "tests/support/source_folder.h"
#include "tests/support/tiny_models.h"
#include "tests/support/toy_schedule.h"

namespace stagewright {
namespace {

/// The files of a folder of the source tree that end so, none larger than a mutation can cover.
std::vector<std::string> files_in(const std::string& folder, std::string_view ending) {
  constexpr std::uintmax_t kLargest = 8192;
  std::vector<std::string> contents;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() / folder)) {
    if (entry.is_regular_file() && entry.file_size() <= kLargest &&
        entry.path().filename().string().ends_with(ending)) {
      auto text = read_file(entry.path());
      SW_CHECK(text.has_value(), "a readable file of the source tree");
      contents.push_back(*std::move(text));
    }
  }
  SW_CHECK(!contents.empty(), "a file to start from");
  return contents;
}

/// Some lines of a file of the source tree, evenly spread, one input each.
std::vector<std::string> lines_of(const std::string& file) {
  constexpr std::size_t kMost = 16;
  auto text = read_file(source_folder() / file);
  SW_CHECK(text.has_value(), "a readable file of the source tree");
  std::vector<std::string> all;
  std::istringstream stream(*text);
  for (std::string line; std::getline(stream, line);) {
    all.push_back(line);
  }
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < kMost; ++i) {
    lines.push_back(all.at(i * all.size() / kMost));
  }
  return lines;
}

std::vector<Schedule> small_schedules() {
  return {toy_schedule({"0F0 0B0 STEP"}),
          toy_schedule(
              {"0F0 0SEND_F0 0RECV_B0 0B0 REDUCE0 STEP", "1RECV_F0 1F0 1B0 1SEND_B0 REDUCE0 STEP"},
              {.replicas = 2}),
          toy_schedule(
              {"0F0 0SEND_F0 0RECV_B0 0I0 0W0 STEP", "1RECV_F0 1F0 1R0 1I0 1SEND_B0 1W0 STEP"})};
}

Trace small_trace() {
  Trace trace;
  trace.clock = "model";
  trace.schedule_hash = "00";
  trace.ranks = 2;
  trace.tokens_per_step = 64;
  trace.streams = {"compute", "data"};
  trace.step_times = {Duration(3000)};
  trace.losses = {1.5};
  trace.gradient_norms = {0.25};
  trace.made_by = {{"program", "any"}};
  TraceEvent event{.posted = TimePoint(Duration(1)),
                   .ready = TimePoint(Duration(2)),
                   .start = TimePoint(Duration(3)),
                   .end = TimePoint(Duration(3000)),
                   .bytes = Bytes(8),
                   .flops = Flops(0.5)};
  trace.events.push_back(event);
  event.op_index = 0;
  event.op = OpKind::kGemm;
  trace.events.push_back(event);
  event.rank = RankId(1);
  event.stream = StreamId(1);
  event.op_index.reset();
  event.op.reset();
  event.action = ActionKind::kReduceGradients;
  trace.events.push_back(event);
  trace.memory.push_back({.rank = RankId(1), .step = 0, .at = TimePoint(Duration(7))});
  return trace;
}

}  // namespace

std::vector<std::string> pytorch_csv_seeds() {
  std::vector<std::string> seeds{
      "0UNSHARD,0F0,0SEND_F0,0RECV_B0,0B0,0REDUCE_GRAD,0RESHARD\r\n"
      "1UNSHARD,1RECV_F0,1F0,1B0,1SEND_B0,1REDUCE_GRAD\r\n",
      "0F0,,(0F1;0B0)OVERLAP_F_B,0B1,\n1F0,1I0,1W0,1F1,1B1\n"};
  for (const std::string& text : files_in("tests/golden/schedules", ".json")) {
    if (const auto list = parse_schedule_vector(text, "seed")) {
      seeds.push_back(write_pytorch_csv(*list));
    }
  }
  return seeds;
}

std::vector<std::string> schedule_vector_seeds() {
  return files_in("tests/golden/schedules", ".json");
}

std::vector<std::string> schedule_file_seeds() {
  std::vector<std::string> seeds;
  for (const Schedule& schedule : small_schedules()) {
    seeds.push_back(to_json_text(schedule));
  }
  return seeds;
}

std::vector<std::string> plan_seeds() {
  std::vector<std::string> seeds = files_in("examples", ".plan.json");
  seeds.push_back(to_json_text(plan_of(tiny_gpt(8), {.dp = 2, .tp = 2, .pp = 2}, 4)));
  return seeds;
}

std::vector<std::string> trace_seeds() {
  return {to_chrome_json(small_trace()), to_binary(small_trace())};
}

std::vector<std::string> profile_seeds() {
  using namespace std::chrono_literals;
  Profile profile;
  profile.device = "cpu";
  profile.concurrent_ranks = 2;
  profile.made_by = {{"host", "a \"quoted\" host"}};
  profile.operations = {{"gemm fp32 rows=4 2>1", {1ms, 1us, 5}}};
  profile.segments = {{"0123", "block forward", 12, {3us, 2ns, 9}, Bytes(4096)}};
  profile.links = {{"send", 2, Bytes(1000), {4us, 1ns, 3}}};
  return {to_json_text(profile)};
}

std::vector<std::string> hf_config_seeds() {
  std::vector<std::string> seeds = files_in("examples/models/llama-3-70b", ".json");
  seeds.emplace_back(
      R"({"architectures":["GPT2LMHeadModel"],"model_type":"gpt2","n_embd":64,"n_head":4,)"
      R"("n_layer":2,"n_positions":64,"vocab_size":256,"n_inner":null,"tie_word_embeddings":true})");
  return seeds;
}

std::vector<std::string> model_file_seeds() {
  return files_in("profiles/models", ".json");
}

std::vector<std::string> cluster_seeds() {
  return files_in("profiles/clusters", ".json");
}

std::vector<std::string> device_seeds() {
  return files_in("profiles/hardware", ".json");
}

std::vector<std::string> measured_record_seeds() {
  return lines_of("tests/data/measured_runs.jsonl");
}

std::vector<std::string> measured_kernels_seeds() {
  return {
      R"({"dataset":"d","source":"s","device":"a100-40gb-sxm","operation":"gemm","dtype":"fp16",)"
      R"("columns":["rows","inner","cols","tflops"],"points":[[2304,4096,1536,217.6],[8,8,8,0.1]]})",
      R"({"dataset":"d","source":"s","device":"v100","operation":"gemm","dtype":"fp32",)"
      R"("transpose_b":true,"columns":["rows","inner","cols","tflops"],"points":[[1,2,3,4e-3]]})"
      "\n\n"};
}

std::vector<std::string> kineto_seeds() {
  auto text = read_file(source_folder() / "tests/data/traced_gpt.kineto.json");
  SW_CHECK(text.has_value(), "a readable file of the source tree");
  constexpr std::size_t kSome = 4000;  // cut off, which is one of the cases
  return {text->substr(0, kSome),
          R"([{"ph":"X","cat":"cpu_op","name":"aten::embedding","pid":"p","tid":7,"ts":1.5,"dur":2,
               "args":{"Input Dims":[[9,4],[2,3],[]],"Input type":["float","long int",""]}},
              {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":3,"dur":4,
               "args":{"correlation":5}}])"};
}

std::vector<std::string> nccl_tests_seeds() {
  return {
      "# nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 step: 2(factor)\n"
      "# Collective test starting: all_gather_perf\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)\n"
      "     1048576         32768     float    none      -1    54.12   19.37   16.95      0\n"
      "0:    134217728       4194304     float    none      -1  1231.1  109.02   95.39      0\n"
      "# Avg bus bandwidth    : 56.1\n",
      "   8  2  float  sum  -1  12.3  0.00  0.00  0  11.9  0.00  0.00  0\n"};
}

}  // namespace stagewright
