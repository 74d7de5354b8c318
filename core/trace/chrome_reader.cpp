#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_reader.h"
#include "core/trace/check_trace.h"
#include "core/trace/chrome_entries.h"
#include "core/trace/figures_hash.h"
#include "core/trace/trace.h"

namespace stagewright {
namespace {

std::int32_t read_integer(JsonReader& reader, std::string_view key) {
  const std::int64_t value = reader.integer(key);
  if (!std::in_range<std::int32_t>(value)) {
    reader.reject(key, fmt::format("{} does not fit 32 bits", value));
    return 0;
  }
  return static_cast<std::int32_t>(value);
}

std::vector<double> read_reals(JsonReader& reader, std::string_view key) {
  std::vector<double> values;
  const nlohmann::json* array = reader.raw(key);
  if (array == nullptr || !array->is_array()) {
    reader.reject(key, "must be a list of numbers");
    return values;
  }
  for (const nlohmann::json& value : *array) {
    if (value.is_number()) {
      values.push_back(value.get<double>());
    } else if (value == "nan") {
      values.push_back(std::numeric_limits<double>::quiet_NaN());
    } else if (value == "inf" || value == "-inf") {
      const double infinity = std::numeric_limits<double>::infinity();
      values.push_back(value == "inf" ? infinity : -infinity);
    } else {
      reader.reject(key, R"(must be a list of numbers, "nan", "inf" or "-inf")");
      return {};
    }
  }
  return values;
}

/// Returns the hash of the figures that the file states.
std::string read_head(JsonReader& reader, Trace& trace) {
  const std::int64_t version = reader.integer("version");
  if (!reader.failed() && version != 1) {
    reader.reject("version", fmt::format("is {}; this program reads version 1", version));
  }
  trace.measured = reader.boolean("measured");
  trace.clock = reader.text("clock");
  trace.schedule_hash = reader.text("schedule_hash");
  std::string hash = reader.text("figures_hash");
  trace.model = reader.text("model");
  trace.plan_summary = reader.text("plan_summary");
  trace.ranks = read_integer(reader, "ranks");
  trace.steps = read_integer(reader, "steps");
  trace.tokens_per_step = reader.integer("tokens_per_step");
  trace.streams = reader.texts("streams");
  for (const std::int64_t time : reader.integers("step_times_ps")) {
    trace.step_times.emplace_back(time);
  }
  trace.losses = read_reals(reader, "losses");
  trace.gradient_norms = read_reals(reader, "gradient_norms");
  const nlohmann::json* made_by = reader.raw("made_by");
  reader.object("made_by", [&](JsonReader& inner) {
    if (made_by->is_object()) {
      for (const auto& item : made_by->items()) {
        trace.made_by[item.key()] = inner.text(item.key());
      }
    }
  });
  return hash;
}

}  // namespace

Result<Trace> parse_chrome_json(std::string_view text, std::string_view where) {
  const auto json = parse_json(text, where);
  if (!json) {
    return tl::unexpected<Error>(json.error());
  }
  if (!json->is_object() || !json->contains("stagewright")) {
    return fail(ErrorCode::kInvalidInput,
                "is no trace of this program: the key \"stagewright\" is absent",
                std::string(where));
  }
  Trace trace;
  JsonReader reader(*json, std::string(where));
  reader.ignore("displayTimeUnit");
  std::string hash;
  reader.object("stagewright", [&](JsonReader& head) { hash = read_head(head, trace); });
  const nlohmann::json* entries = reader.raw("traceEvents");
  if (entries == nullptr || !entries->is_array()) {
    reader.reject("traceEvents", "must be a list of events; is the file complete?");
  }
  if (auto done = reader.finish(); !done) {
    return pass_on(std::move(done));
  }
  trace.events.reserve(entries->size());
  if (auto read = read_chrome_entries(*entries, where, trace); !read) {
    return pass_on(std::move(read));
  }
  if (auto checked = check_trace(trace, where); !checked) {
    return pass_on(std::move(checked));
  }
  if (figures_hash(trace) != hash) {
    return fail(ErrorCode::kInvalidInput,
                "its events and times do not have the hash that the file states: it was changed "
                "after it was written; make it again with --trace",
                fmt::format("{}:/stagewright/figures_hash", where));
  }
  return trace;
}

}  // namespace stagewright
