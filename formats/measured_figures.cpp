#include "formats/measured_figures.h"

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "formats/measured_words.h"
#include "formats/record_fields.h"

namespace stagewright {
namespace {

using nlohmann::json;

constexpr double kLongestStep = 1e6;  ///< seconds
constexpr double kHighestRate = 1e12;
constexpr double kMostTeraflops = 1e5;  ///< of one device
constexpr double kMostMemory = 1e5;     ///< GB of one device
/// Sources print two or three digits.
constexpr double kRounding = 0.05;
/// Definitions of the FLOPs of a step differ: causal attention, recomputation, embeddings.
constexpr double kFlopsDefinitions = 2.5;

/// One way in which a record states its step's time.
struct Statement {
  RecordFields* fields;
  const char* key;
  std::optional<double> seconds;
};

std::optional<double> time_of(std::optional<double> rate, double amount) {
  return rate ? std::optional(amount / *rate) : std::nullopt;
}

/// FLOPs of the mathematics: 6 for each visited parameter and token, and the whole scores.
double step_flops(const TrainingRun& run, double tokens) {
  const auto width = static_cast<double>(run.shape.heads * run.shape.head_dim);
  return tokens *
         (6 * parameter_counts(run).active +
          12 * static_cast<double>(run.shape.layers) * width * static_cast<double>(run.sequence));
}

void read_time(RecordFields& measured, RecordFields* derived, MeasuredRecord& record) {
  const TrainingRun& run = record.run;
  const auto samples = static_cast<double>(run.global_batch());
  const double tokens = samples * static_cast<double>(run.sequence);
  const auto devices = static_cast<double>(run.devices());
  std::vector<Statement> statements{
      {&measured, "iter_time_s", measured.positive("iter_time_s", kLongestStep)},
      {&measured, "tokens_per_s", time_of(measured.positive("tokens_per_s", kHighestRate), tokens)},
      {&measured,
       "tokens_per_gpu_s",
       time_of(measured.positive("tokens_per_gpu_s", kHighestRate), tokens / devices)},
      {&measured,
       "samples_per_s",
       time_of(measured.positive("samples_per_s", kHighestRate), samples)}};
  if (derived != nullptr) {
    statements.push_back({derived, "iter_time_s", derived->positive("iter_time_s", kLongestStep)});
    statements.push_back({derived,
                          "tokens_per_s",
                          time_of(derived->positive("tokens_per_s", kHighestRate), tokens)});
  }
  const Statement* first = nullptr;
  for (const Statement& statement : statements) {
    if (statement.seconds && first == nullptr) {
      first = &statement;
      record.iteration_seconds = statement.seconds;
    } else if (statement.seconds &&
               std::abs(*statement.seconds / *first->seconds - 1) > kRounding) {
      statement.fields->reject(
          statement.key,
          fmt::format("contradicts {} by more than {:.0f} %", first->key, 100 * kRounding));
    }
  }
  const auto teraflops = measured.positive("tflops_per_gpu", kMostTeraflops);
  if (teraflops && record.iteration_seconds) {
    const double ratio =
        *teraflops * 1e12 * devices * *record.iteration_seconds / step_flops(run, tokens);
    if (ratio > kFlopsDefinitions || ratio < 1 / kFlopsDefinitions) {
      measured.reject("tflops_per_gpu",
                      fmt::format("is {:.2g} times what the model and the time make", ratio));
    }
  }
}

void read_utilisation(RecordFields& measured) {
  const auto model = measured.positive("mfu", 1);
  const auto hardware = measured.positive("hfu", 1);
  if (model && hardware && *hardware < 0.98 * *model) {
    measured.reject("hfu", fmt::format("{} is less than the mfu {}", *hardware, *model));
  }
}

void read_memory(RecordFields& measured, MeasuredRecord& record) {
  double unit = 1e9;
  if (const auto words = measured.text("memory_unit")) {
    if (const auto bytes = read_memory_unit(*words)) {
      unit = *bytes;
    } else {
      measured.reject("memory_unit", fmt::format("'{}' is none of GB, GiB, MB, MiB", *words));
    }
  }
  const double most = unit < 1e9 ? 1e3 * kMostMemory : kMostMemory;
  if (const auto memory = measured.positive("memory_gb", most)) {
    record.memory_bytes = *memory * unit;
  }
  (void)measured.positive("memory_allocated_steady_gib", kMostMemory);
  record.memory_kind = read_memory_kind(measured.name("memory_kind").value_or(""));
  if (record.memory_bytes && record.memory_kind == MemoryKind::kUnknown) {
    record.assumed.emplace_back("measured.memory_kind (reserved by the allocator)");
  }
}

/// What a run that ended out of memory cannot have.
void read_end(RecordFields& measured, MeasuredRecord& record) {
  record.out_of_memory = measured.flag("oom").value_or(false);
  if (!record.out_of_memory) {
    return;
  }
  for (const char* key : {"iter_time_s",
                          "tokens_per_s",
                          "tokens_per_gpu_s",
                          "samples_per_s",
                          "tflops_per_gpu",
                          "mfu",
                          "memory_gb"}) {
    if (measured.find(key) != nullptr) {
      measured.reject("oom", fmt::format("is true, but {} is stated", key));
    }
  }
}

}  // namespace

void read_measured_figures(const json& record, MeasuredRecord& into, std::string& fault) {
  RecordFields measured(record, "measured", fault);
  if (!fault.empty()) {
    return;
  }
  const auto section = record.find("derived");
  if (section != record.end() && !section->is_null()) {
    RecordFields derived(record, "derived", fault);
    (void)derived.text("basis");
    (void)derived.positive("model_tflops_per_gpu_attn_full", kMostTeraflops);
    (void)derived.positive("model_tflops_per_gpu_attn_causal", kMostTeraflops);
    read_time(measured, &derived, into);
  } else {
    read_time(measured, nullptr, into);
  }
  read_utilisation(measured);
  read_memory(measured, into);
  read_end(measured, into);
  if (fault.empty() && !into.iteration_seconds && !into.memory_bytes && !into.out_of_memory) {
    measured.reject("", "holds neither a time nor memory nor oom");
  }
}

}  // namespace stagewright
