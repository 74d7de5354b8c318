#include "core/trace/chrome_entries.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/trace/check_trace.h"

namespace stagewright {
namespace {

using nlohmann::json;

/// A key and where its value goes; `store` tells whether the value is one that fits.
template <class Target>
struct Field {
  std::string_view key;
  std::string_view expected;
  bool (*store)(const json& value, Target& target);
  bool required = true;
};

/// What is wrong, below an entry.
struct Complaint {
  std::string path;
  std::string message;
};

template <class Target>
std::optional<Complaint> read_fields(const json& object,
                                     std::span<const Field<Target>> fields,
                                     Target& target) {
  if (!object.is_object()) {
    return Complaint{"", "expected an object"};
  }
  std::uint32_t seen = 0;
  for (auto item = object.begin(); item != object.end(); ++item) {
    std::size_t f = 0;
    while (f < fields.size() && fields[f].key != item.key()) {
      ++f;
    }
    if (f == fields.size()) {
      return Complaint{"/" + item.key(), "unknown key '" + item.key() + "'"};
    }
    if (!fields[f].store(*item, target)) {
      return Complaint{"/" + item.key(),
                       fmt::format("expected {}, found {}", fields[f].expected, item->dump())};
    }
    seen |= 1U << f;
  }
  for (std::size_t f = 0; f < fields.size(); ++f) {
    if (fields[f].required && (seen >> f & 1U) == 0) {
      return Complaint{fmt::format("/{}", fields[f].key), "is required but absent"};
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> integer_of(const json& value) {
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>()))) {
    return std::nullopt;
  }
  return value.get<std::int64_t>();
}

/// Stores an integer through `assign` if it fits `Int`.
template <class Int, class Assign>
bool store_integer(const json& value, Assign assign) {
  const auto integer = integer_of(value);
  if (!integer || !std::in_range<Int>(*integer)) {
    return false;
  }
  assign(static_cast<Int>(*integer));
  return true;
}

template <class Assign>
bool store_index(const json& value, Assign assign) {
  return store_integer<std::int32_t>(value, assign);
}

template <class Target>
bool ignore(const json& /*value*/, Target& /*target*/) {
  return true;
}

constexpr std::string_view kInteger = "an integer of 32 bits";
constexpr std::string_view kLong = "an integer of 64 bits";

template <TimePoint TraceEvent::*kTime>
bool store_time(const json& value, TraceEvent& event) {
  return store_integer<std::int64_t>(
      value, [&](std::int64_t v) { event.*kTime = TimePoint(Duration(v)); });
}

constexpr std::array<Field<TraceEvent>, 11> kArguments{{
    {"step",
     kInteger,
     [](const json& v, TraceEvent& e) {
       return store_index(v, [&](std::int32_t i) { e.step = i; });
     }},
    {"action",
     kInteger,
     [](const json& v, TraceEvent& e) {
       return store_index(v, [&](std::int32_t i) { e.action_index = i; });
     }},
    {"stage",
     kInteger,
     [](const json& v, TraceEvent& e) {
       return store_index(v, [&](std::int32_t i) { e.stage = StageId(i); });
     }},
    {"micro_batch",
     kInteger,
     [](const json& v, TraceEvent& e) {
       return store_index(v, [&](std::int32_t i) { e.micro_batch = MicroBatchId(i); });
     }},
    {"op",
     kInteger,
     [](const json& v, TraceEvent& e) {
       return store_index(v, [&](std::int32_t i) { e.op_index = i; });
     },
     false},
    {"posted_ps", kLong, store_time<&TraceEvent::posted>},
    {"ready_ps", kLong, store_time<&TraceEvent::ready>},
    {"start_ps", kLong, store_time<&TraceEvent::start>},
    {"end_ps", kLong, store_time<&TraceEvent::end>},
    {"bytes",
     kLong,
     [](const json& v, TraceEvent& e) {
       return store_integer<std::int64_t>(v, [&](std::int64_t i) { e.bytes = Bytes(i); });
     }},
    {"flops",
     "a number",
     [](const json& v, TraceEvent& e) {
       if (v.is_number()) {
         e.flops = Flops(v.get<double>());
       }
       return v.is_number();
     }},
}};

constexpr std::array<Field<TraceEvent>, 8> kEvent{{
    {"ph", "", ignore<TraceEvent>},
    {"name", "", ignore<TraceEvent>},  // read when it is known whether it names an operation
    {"ts", "", ignore<TraceEvent>},
    {"dur", "", ignore<TraceEvent>},
    {"args", "", ignore<TraceEvent>},  // read for itself
    {"cat",
     "a kind of action",
     [](const json& v, TraceEvent& e) {
       const auto kind = v.is_string() ? action_kind_named(v.get_ref<const std::string&>())
                                       : std::optional<ActionKind>();
       e.action = kind.value_or(ActionKind::kForward);
       return kind.has_value();
     }},
    {"pid",
     kInteger,
     [](const json& v, TraceEvent& e) {
       return store_index(v, [&](std::int32_t i) { e.rank = RankId(i); });
     }},
    {"tid",
     kInteger,
     [](const json& v, TraceEvent& e) {
       return store_index(v, [&](std::int32_t i) { e.stream = StreamId(i / 2); });
     }},
}};

constexpr std::array<Field<MemorySample>, 6> kSample{{
    {"ph", "", ignore<MemorySample>},
    {"name", "", ignore<MemorySample>},
    {"ts", "", ignore<MemorySample>},
    {"args", "", ignore<MemorySample>},
    {"stagewright", "", ignore<MemorySample>},
    {"pid",
     kInteger,
     [](const json& v, MemorySample& s) {
       return store_index(v, [&](std::int32_t i) { s.rank = RankId(i); });
     }},
}};

constexpr std::array<Field<MemorySample>, 2> kPlace{{
    {"step",
     kInteger,
     [](const json& v, MemorySample& s) {
       return store_index(v, [&](std::int32_t i) { s.step = i; });
     }},
    {"at_ps",
     kLong,
     [](const json& v, MemorySample& s) {
       return store_integer<std::int64_t>(v,
                                          [&](std::int64_t i) { s.at = TimePoint(Duration(i)); });
     }},
}};

std::optional<Complaint> below(std::string_view key, std::optional<Complaint> complaint) {
  if (complaint) {
    complaint->path = fmt::format("/{}{}", key, complaint->path);
  }
  return complaint;
}

std::optional<Complaint> read_live(const json& live, MemorySample& sample) {
  if (!live.is_object() || live.size() != sample.live.size()) {
    return Complaint{"", fmt::format("expected {} classes of memory", sample.live.size())};
  }
  for (std::size_t c = 0; c < sample.live.size(); ++c) {
    const std::string key(name_of(static_cast<TensorClass>(c)));
    const auto found = live.find(key);
    if (found == live.end() || !store_integer<std::int64_t>(*found, [&](std::int64_t bytes) {
          sample.live[c] = Bytes(bytes);
        })) {
      return Complaint{"/" + key, fmt::format("expected {}", kLong)};
    }
  }
  return std::nullopt;
}

/// Microseconds as the viewers show them: they must say the same as the exact times.
std::optional<Complaint> check_shown(const json& entry, std::string_view key, Duration exact) {
  constexpr double kRounding = 1e-9;
  const auto shown = entry.find(key);
  const double expected = static_cast<double>(exact.count()) / 1e6;
  if (shown->is_number() &&
      std::abs(shown->get<double>() - expected) <= kRounding * std::max(1.0, std::abs(expected))) {
    return std::nullopt;
  }
  return Complaint{
      fmt::format("/{}", key),
      fmt::format(
          "expected {:.6f}, as the times in picoseconds say; found {}", expected, shown->dump())};
}

/// Reads the entries of one file into its trace, whose head is there.
class EntryReader {
 public:
  explicit EntryReader(Trace& trace) : trace_(trace) {
    Duration begin{};
    for (const Duration time : trace.step_times) {
      begins_.push_back(begin);
      begin += time;
    }
  }

  std::optional<Complaint> read(const json& entry) {
    const auto phase = entry.is_object() ? entry.find("ph") : entry.end();
    if (!entry.is_object() || phase == entry.end()) {
      return Complaint{"/ph", "is required but absent"};
    }
    if (*phase == "X") {
      return read_event(entry);
    }
    if (*phase == "C") {
      return read_sample(entry);
    }
    if (*phase == "M") {  // names for the eye
      return std::nullopt;
    }
    return Complaint{
        "/ph", fmt::format("{} is not written by this program; M, X and C are", phase->dump())};
  }

 private:
  std::optional<Complaint> read_event(const json& entry);
  std::optional<Complaint> read_sample(const json& entry);

  /// Checks "ts".  Steps follow each other in the file; one that does not exist is found later.
  [[nodiscard]] std::optional<Complaint> check_begin(const json& entry,
                                                     std::int32_t step,
                                                     TimePoint time) const {
    const auto index = static_cast<std::size_t>(std::max(step, 0));
    return index < begins_.size()
               ? check_shown(entry, "ts", begins_[index] + time.time_since_epoch())
               : std::nullopt;
  }

  Trace& trace_;
  std::vector<Duration> begins_;
};

std::optional<Complaint> EntryReader::read_event(const json& entry) {
  TraceEvent event;
  if (auto complaint = read_fields<TraceEvent>(entry, kEvent, event)) {
    return complaint;
  }
  if (auto complaint = below("args", read_fields<TraceEvent>(entry["args"], kArguments, event))) {
    return complaint;
  }
  if (auto complaint = complaint_about_times(event)) {
    return Complaint{"/args", *std::move(complaint)};
  }
  if (auto complaint = check_begin(entry, event.step, event.start)) {
    return complaint;
  }
  if (auto complaint = check_shown(entry, "dur", event.end - event.start)) {
    return complaint;
  }
  if (event.op_index) {
    const json& name = entry["name"];
    if (name.is_string()) {
      event.op = op_kind_named(name.get_ref<const std::string&>());
    }
    if (!event.op) {
      return Complaint{"/name", fmt::format("expected a kind of operation, found {}", name.dump())};
    }
  }
  trace_.events.push_back(event);
  return std::nullopt;
}

std::optional<Complaint> EntryReader::read_sample(const json& entry) {
  MemorySample sample;
  auto complaint = read_fields<MemorySample>(entry, kSample, sample);
  if (!complaint) {
    complaint =
        below("stagewright", read_fields<MemorySample>(entry["stagewright"], kPlace, sample));
  }
  if (!complaint) {
    complaint = below("args", read_live(entry["args"], sample));
  }
  if (!complaint && !fits_clock(sample.at)) {
    complaint = Complaint{"/stagewright/at_ps", "is beyond what the clock counts"};
  }
  if (!complaint) {
    complaint = check_begin(entry, sample.step, sample.at);
  }
  trace_.memory.push_back(sample);
  return complaint;
}

}  // namespace

Result<void> read_chrome_entries(const json& entries, std::string_view where, Trace& trace) {
  if (auto checked = check_step_times(trace, where); !checked) {
    return checked;
  }
  EntryReader reader(trace);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (auto complaint = reader.read(entries[i])) {
      return fail(ErrorCode::kInvalidInput,
                  std::move(complaint->message),
                  fmt::format("{}:/traceEvents/{}{}", where, i, complaint->path));
    }
  }
  return {};
}

}  // namespace stagewright
