#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/trace/figures_hash.h"
#include "core/trace/trace.h"

namespace stagewright {
namespace {

using nlohmann::ordered_json;

std::string dump(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// JSON has no words for these: "nan", "inf", "-inf".
ordered_json real(double value) {
  if (std::isfinite(value)) {
    return value;
  }
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

ordered_json reals(const std::vector<double>& values) {
  ordered_json array = ordered_json::array();
  for (const double value : values) {
    array.push_back(real(value));
  }
  return array;
}

/// Sums of times that a damaged file may make as large as it likes: they wrap.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

/// Microseconds with six decimals: exact.
void append_microseconds(fmt::memory_buffer& out, std::int64_t picoseconds) {
  const auto magnitude = picoseconds < 0 ? 0 - static_cast<std::uint64_t>(picoseconds)
                                         : static_cast<std::uint64_t>(picoseconds);
  fmt::format_to(fmt::appender(out),
                 "{}{}.{:06}",
                 picoseconds < 0 ? "-" : "",
                 magnitude / 1'000'000,
                 magnitude % 1'000'000);
}

void append(fmt::memory_buffer& out, std::string_view text) {
  out.append(text.data(), text.data() + text.size());
}

/// The head: what is not an event.
ordered_json head_of(const Trace& trace) {
  ordered_json step_times = ordered_json::array();
  for (const Duration time : trace.step_times) {
    step_times.push_back(time.count());
  }
  return {{"version", 1},
          {"measured", trace.measured},
          {"clock", trace.clock},
          {"schedule_hash", trace.schedule_hash},
          {"figures_hash", figures_hash(trace)},
          {"model", trace.model},
          {"plan_summary", trace.plan_summary},
          {"ranks", trace.ranks},
          {"steps", trace.steps},
          {"tokens_per_step", trace.tokens_per_step},
          {"streams", trace.streams},
          {"step_times_ps", std::move(step_times)},
          {"losses", reals(trace.losses)},
          {"gradient_norms", reals(trace.gradient_norms)},
          {"made_by", ordered_json(trace.made_by)}};
}

class ChromeWriter {
 public:
  explicit ChromeWriter(const Trace& trace) : trace_(trace) {
    std::int64_t begin = 0;
    for (const Duration time : trace.step_times) {
      begins_.push_back(begin);
      begin = sum(begin, time.count());
    }
  }

  std::string write() && {
    append(text_, "{\"displayTimeUnit\":\"ms\",\n\"stagewright\":");
    append(text_, dump(head_of(trace_)));
    append(text_, ",\n\"traceEvents\":[");
    write_names();
    for (const TraceEvent& event : trace_.events) {
      write_event(event);
    }
    for (const MemorySample& sample : trace_.memory) {
      write_sample(sample);
    }
    append(text_, "\n]}\n");
    return fmt::to_string(text_);
  }

 private:
  /// Actions and their operations get a line each, so that they need not nest.
  static std::int32_t thread_of(const TraceEvent& event) {
    return event.stream.value() * 2 + (event.op_index ? 1 : 0);
  }

  void begin_event() {
    append(text_, is_first_ ? "\n" : ",\n");
    is_first_ = false;
  }

  void write_names() {
    std::map<RankId, std::set<std::int32_t>> threads;
    for (const TraceEvent& event : trace_.events) {
      threads[event.rank].insert(thread_of(event));
    }
    for (const MemorySample& sample : trace_.memory) {
      threads[sample.rank];
    }
    for (const auto& [rank, ids] : threads) {
      write_name("process_name", rank, 0, fmt::format("rank {}", rank.value()));
      for (const std::int32_t id : ids) {
        const auto stream = static_cast<std::size_t>(id / 2);
        const std::string name = stream < trace_.streams.size() ? trace_.streams[stream]
                                                                : fmt::format("stream {}", stream);
        write_name("thread_name", rank, id, id % 2 == 0 ? name : name + " operations");
      }
    }
  }

  void write_name(std::string_view kind,
                  RankId rank,
                  std::int32_t thread,
                  const std::string& name) {
    begin_event();
    fmt::format_to(fmt::appender(text_),
                   R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})",
                   kind,
                   rank.value(),
                   thread,
                   dump(name));
  }

  /// Steps follow each other for the eye; the exact times in "args" count from the step's start.
  [[nodiscard]] std::int64_t begin_of(std::int32_t step) const {
    const auto index = static_cast<std::size_t>(std::max(step, 0));
    return index < begins_.size() ? begins_[index] : 0;
  }

  static std::string name_of_event(const TraceEvent& event) {
    if (event.op) {
      return std::string(name_of(*event.op));
    }
    switch (event.action) {
      case ActionKind::kLoadMicroBatch:
      case ActionKind::kForward:
      case ActionKind::kBackward:
      case ActionKind::kBackwardInput:
      case ActionKind::kBackwardWeight:
      case ActionKind::kRecompute:
      case ActionKind::kSendActivation:
      case ActionKind::kRecvActivation:
      case ActionKind::kSendGradient:
      case ActionKind::kRecvGradient:
      case ActionKind::kUpdateParameters:
        return to_string(
            Action{.kind = event.action, .stage = event.stage, .micro_batch = event.micro_batch});
      case ActionKind::kReduceGradients:
      case ActionKind::kGatherParameters:
      case ActionKind::kOptimizerStep:
        break;  // an event knows no bucket
    }
    return std::string(name_of(event.action));
  }

  void write_event(const TraceEvent& event) {
    begin_event();
    const auto out = fmt::appender(text_);
    fmt::format_to(out,
                   R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":)",
                   name_of_event(event),
                   name_of(event.action),
                   event.rank.value(),
                   thread_of(event));
    append_microseconds(text_, sum(begin_of(event.step), picoseconds(event.start)));
    append(text_, R"(,"dur":)");
    append_microseconds(text_, difference(picoseconds(event.end), picoseconds(event.start)));
    fmt::format_to(out,
                   R"(,"args":{{"step":{},"action":{},"stage":{},"micro_batch":{},)",
                   event.step,
                   event.action_index,
                   event.stage.value(),
                   event.micro_batch.value());
    if (event.op_index) {
      fmt::format_to(out, R"("op":{},)", *event.op_index);
    }
    fmt::format_to(
        out,
        R"("posted_ps":{},"ready_ps":{},"start_ps":{},"end_ps":{},"bytes":{},"flops":{}}}}})",
        picoseconds(event.posted),
        picoseconds(event.ready),
        picoseconds(event.start),
        picoseconds(event.end),
        event.bytes.count(),
        event.flops.count());
  }

  void write_sample(const MemorySample& sample) {
    begin_event();
    const auto out = fmt::appender(text_);
    fmt::format_to(out, R"({{"ph":"C","name":"memory","pid":{},"ts":)", sample.rank.value());
    append_microseconds(text_, sum(begin_of(sample.step), picoseconds(sample.at)));
    fmt::format_to(out,
                   R"(,"stagewright":{{"step":{},"at_ps":{}}},"args":{{)",
                   sample.step,
                   picoseconds(sample.at));
    for (std::size_t c = 0; c < sample.live.size(); ++c) {
      fmt::format_to(out,
                     R"({}"{}":{})",
                     c == 0 ? "" : ",",
                     name_of(static_cast<TensorClass>(c)),
                     sample.live[c].count());
    }
    append(text_, "}}");
  }

  const Trace& trace_;
  std::vector<std::int64_t> begins_;  ///< picoseconds, by step
  fmt::memory_buffer text_;
  bool is_first_ = true;
};

}  // namespace

std::string to_chrome_json(const Trace& trace) {
  return ChromeWriter(trace).write();
}

}  // namespace stagewright
