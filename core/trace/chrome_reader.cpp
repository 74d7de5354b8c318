#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_reader.h"
#include "core/trace/check_trace.h"
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

TimePoint read_time(JsonReader& reader, std::string_view key) {
  return TimePoint(Duration(reader.integer(key)));
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
      reader.reject(key, "must be a list of numbers, \"nan\", \"inf\" or \"-inf\"");
      return {};
    }
  }
  return values;
}

void read_head(JsonReader& reader, Trace& trace) {
  const std::int64_t version = reader.integer("version");
  if (!reader.failed() && version != 1) {
    reader.reject("version", fmt::format("is {}; this program reads version 1", version));
  }
  trace.measured = reader.boolean("measured");
  trace.clock = reader.text("clock");
  trace.schedule_hash = reader.text("schedule_hash");
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
}

/// One entry of "traceEvents".
class EventReader {
 public:
  explicit EventReader(Trace& trace) : trace_(trace) {}

  void read(JsonReader& reader) {
    const std::string phase = reader.text("ph");
    if (phase == "M") {
      for (const std::string_view key : {"name", "pid", "tid", "args"}) {
        reader.ignore(key);
      }
    } else if (phase == "X") {
      read_event(reader);
    } else if (phase == "C") {
      read_sample(reader);
    } else if (!reader.failed()) {
      reader.reject("ph",
                    fmt::format("'{}' is not written by this program; M, X and C are", phase));
    }
  }

 private:
  void read_event(JsonReader& reader) {
    TraceEvent event;
    const std::string name = reader.text("name");
    event.rank = RankId(read_integer(reader, "pid"));
    event.stream = StreamId(read_integer(reader, "tid") / 2);
    reader.ignore("ts");
    reader.ignore("dur");
    const std::string category = reader.text("cat");
    if (const auto kind = action_kind_named(category)) {
      event.action = *kind;
    } else {
      reader.reject("cat", fmt::format("'{}' is no kind of action", category));
    }
    const bool has_args = reader.object("args", [&](JsonReader& args) {
      event.step = read_integer(args, "step");
      event.action_index = read_integer(args, "action");
      event.stage = StageId(read_integer(args, "stage"));
      event.micro_batch = MicroBatchId(read_integer(args, "micro_batch"));
      if (args.has("op")) {
        event.op_index = read_integer(args, "op");
      }
      event.posted = read_time(args, "posted_ps");
      event.ready = read_time(args, "ready_ps");
      event.start = read_time(args, "start_ps");
      event.end = read_time(args, "end_ps");
      event.bytes = Bytes(args.integer("bytes"));
      event.flops = Flops(args.number("flops"));
    });
    if (!has_args) {
      reader.reject("args", "is required but absent");
    }
    if (event.op_index) {
      event.op = op_kind_named(name);
      if (!event.op) {
        reader.reject("name", fmt::format("'{}' is no kind of operation", name));
      }
    }
    trace_.events.push_back(event);
  }

  void read_sample(JsonReader& reader) {
    MemorySample sample;
    reader.ignore("name");
    reader.ignore("ts");
    sample.rank = RankId(read_integer(reader, "pid"));
    const bool has_place = reader.object("stagewright", [&](JsonReader& place) {
      sample.step = read_integer(place, "step");
      sample.at = read_time(place, "at_ps");
    });
    const bool has_args = reader.object("args", [&](JsonReader& args) {
      for (std::size_t c = 0; c < sample.live.size(); ++c) {
        sample.live[c] = Bytes(args.integer(name_of(static_cast<TensorClass>(c))));
      }
    });
    if (!has_place || !has_args) {
      reader.reject("args", "a memory counter needs \"stagewright\" and \"args\"");
    }
    trace_.memory.push_back(sample);
  }

  Trace& trace_;
};

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
  reader.object("stagewright", [&](JsonReader& head) { read_head(head, trace); });
  if (!reader.has("traceEvents")) {
    reader.reject("traceEvents", "is required but absent; is the file complete?");
  }
  EventReader events(trace);
  reader.objects("traceEvents", [&](JsonReader& entry) { events.read(entry); });
  if (auto done = reader.finish(); !done) {
    return pass_on(std::move(done));
  }
  if (auto checked = check_trace(trace, where); !checked) {
    return pass_on(std::move(checked));
  }
  return trace;
}

}  // namespace stagewright
