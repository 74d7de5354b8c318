#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/hash.h"
#include "core/trace/check_trace.h"
#include "core/trace/figures_hash.h"
#include "core/trace/trace.h"

// Layout (docs/trace.md): "SWTR", version (4 bytes, little-endian), hash of the rest (32
// hexadecimal digits), then numbers as variable-length integers of 7 bits a byte, lowest first, the
// top bit set on all bytes but the last.  Columns hold the difference to the row before, signs
// folded into the lowest bit; a text is its length and its bytes.

namespace stagewright {
namespace {

constexpr std::string_view kMagic = "SWTR";
constexpr std::uint32_t kVersion = 2;  ///< 1 numbered operations otherwise
constexpr std::size_t kHashLength = 32;
constexpr std::size_t kHeadLength = kMagic.size() + 4 + kHashLength;

std::uint64_t fold(std::uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}
std::uint64_t unfold(std::uint64_t folded) {
  return (folded >> 1) ^ (0 - (folded & 1));
}

class Writer {
 public:
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      bytes_ += static_cast<char>(static_cast<unsigned char>(value | 0x80));
    }
    bytes_ += static_cast<char>(value);
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  void integer(std::int64_t value) { number(fold(static_cast<std::uint64_t>(value))); }
  void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }

  template <class Range, class Field>
  void column(const Range& rows, Field field) {
    std::uint64_t before = 0;
    for (const auto& row : rows) {
      const auto value = static_cast<std::uint64_t>(static_cast<std::int64_t>(field(row)));
      number(fold(value - before));
      before = value;
    }
  }

  [[nodiscard]] std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// After the first error every read gives 0 or nothing.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  void fail() {
    failed_ = true;
    rest_ = {};
  }

  [[nodiscard]] std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) {
        break;
      }
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      const std::uint64_t part = byte & 0x7FU;
      if (shift == 63 && part > 1) {
        break;
      }
      value |= part << shift;
      if (byte < 0x80) {
        return value;
      }
    }
    fail();
    return 0;
  }
  [[nodiscard]] std::int64_t integer() { return static_cast<std::int64_t>(unfold(number())); }
  [[nodiscard]] double real() { return std::bit_cast<double>(number()); }
  [[nodiscard]] std::string text() {
    const std::uint64_t length = number();
    if (length > rest_.size()) {
      fail();
      return {};
    }
    std::string value(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return value;
  }
  /// A number of things that take `least` bytes each, or 0 if the file cannot hold them.
  [[nodiscard]] std::size_t count(std::size_t least) {
    const std::uint64_t value = number();
    if (value > rest_.size() / least) {
      fail();
      return 0;
    }
    return value;
  }
  /// An integer of `Int`'s range.
  template <std::integral Int>
  [[nodiscard]] Int narrow(std::int64_t value) {
    if (!std::in_range<Int>(value)) {
      fail();
      return 0;
    }
    return static_cast<Int>(value);
  }

  template <class Range, class Store>
  void column(Range& rows, Store store) {
    std::uint64_t value = 0;
    for (auto& row : rows) {
      value += unfold(number());
      store(row, static_cast<std::int64_t>(value));
    }
  }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

/// Each column of the events: how a field becomes an integer and back.  0 stands for absent where
/// something may be absent.  Bits of a double are an integer, too.
template <class Visit>
void for_each_event_column(Visit visit) {
  using E = TraceEvent;
  using I = std::int64_t;
  visit([](const E& e) -> I { return e.rank.value(); },
        [](Reader& r, E& e, I v) { e.rank = RankId(r.narrow<std::int32_t>(v)); });
  visit([](const E& e) -> I { return e.stream.value(); },
        [](Reader& r, E& e, I v) { e.stream = StreamId(r.narrow<std::int32_t>(v)); });
  visit([](const E& e) -> I { return e.step; },
        [](Reader& r, E& e, I v) { e.step = r.narrow<std::int32_t>(v); });
  visit([](const E& e) -> I { return e.action_index; },
        [](Reader& r, E& e, I v) { e.action_index = r.narrow<std::int32_t>(v); });
  visit([](const E& e) -> I { return e.op_index ? I{*e.op_index} + 1 : 0; },
        [](Reader& r, E& e, I v) {
          e.op_index = v == 0 ? std::nullopt : std::optional(r.narrow<std::int32_t>(v - 1));
        });
  visit([](const E& e) -> I { return static_cast<I>(e.action); },
        [](Reader& r, E& e, I v) {
          v < 0 || v >= kActionKindCount ? r.fail() : void(e.action = static_cast<ActionKind>(v));
        });
  visit([](const E& e) -> I { return e.op ? static_cast<I>(*e.op) + 1 : 0; },
        [](Reader& r, E& e, I v) {
          if (v < 0 || v > kOpKindCount) {
            r.fail();
          } else if (v > 0) {
            e.op = static_cast<OpKind>(v - 1);
          }
        });
  visit([](const E& e) -> I { return e.stage.value(); },
        [](Reader& r, E& e, I v) { e.stage = StageId(r.narrow<std::int32_t>(v)); });
  visit([](const E& e) -> I { return e.micro_batch.value(); },
        [](Reader& r, E& e, I v) { e.micro_batch = MicroBatchId(r.narrow<std::int32_t>(v)); });
  visit([](const E& e) -> I { return picoseconds(e.posted); },
        [](Reader&, E& e, I v) { e.posted = TimePoint(Duration(v)); });
  visit([](const E& e) -> I { return picoseconds(e.ready); },
        [](Reader&, E& e, I v) { e.ready = TimePoint(Duration(v)); });
  visit([](const E& e) -> I { return picoseconds(e.start); },
        [](Reader&, E& e, I v) { e.start = TimePoint(Duration(v)); });
  visit([](const E& e) -> I { return picoseconds(e.end); },
        [](Reader&, E& e, I v) { e.end = TimePoint(Duration(v)); });
  visit([](const E& e) -> I { return e.bytes.count(); },
        [](Reader&, E& e, I v) { e.bytes = Bytes(v); });
  visit([](const E& e) -> I { return std::bit_cast<I>(e.flops.count() + 0.0); },
        [](Reader&, E& e, I v) { e.flops = Flops(std::bit_cast<double>(v)); });
}
constexpr std::size_t kEventColumns = 15;

template <class Visit>
void for_each_memory_column(Visit visit) {
  using S = MemorySample;
  using I = std::int64_t;
  visit([](const S& s) -> I { return s.rank.value(); },
        [](Reader& r, S& s, I v) { s.rank = RankId(r.narrow<std::int32_t>(v)); });
  visit([](const S& s) -> I { return s.step; },
        [](Reader& r, S& s, I v) { s.step = r.narrow<std::int32_t>(v); });
  visit([](const S& s) -> I { return picoseconds(s.at); },
        [](Reader&, S& s, I v) { s.at = TimePoint(Duration(v)); });
  for (std::size_t c = 0; c < kTensorClassCount; ++c) {
    visit([c](const S& s) -> I { return s.live[c].count(); },
          [c](Reader&, S& s, I v) { s.live[c] = Bytes(v); });
  }
}
constexpr std::size_t kMemoryColumns = 3 + kTensorClassCount;

void write_head(Writer& writer, const Trace& trace) {
  writer.number(trace.measured ? 1 : 0);
  for (const std::string* text :
       {&trace.clock, &trace.schedule_hash, &trace.model, &trace.plan_summary}) {
    writer.text(*text);
  }
  writer.integer(trace.ranks);
  writer.integer(trace.steps);
  writer.integer(trace.tokens_per_step);
  writer.number(trace.streams.size());
  for (const std::string& stream : trace.streams) {
    writer.text(stream);
  }
  writer.number(trace.step_times.size());
  for (const Duration time : trace.step_times) {
    writer.integer(time.count());
  }
  for (const std::vector<double>* values : {&trace.losses, &trace.gradient_norms}) {
    writer.number(values->size());
    for (const double value : *values) {
      writer.real(value);
    }
  }
  writer.number(trace.made_by.size());
  for (const auto& [key, value] : trace.made_by) {
    writer.text(key);
    writer.text(value);
  }
}

void read_head(Reader& reader, Trace& trace) {
  const std::uint64_t measured = reader.number();
  if (measured > 1) {
    reader.fail();
  }
  trace.measured = measured == 1;
  for (std::string* text :
       {&trace.clock, &trace.schedule_hash, &trace.model, &trace.plan_summary}) {
    *text = reader.text();
  }
  trace.ranks = reader.narrow<std::int32_t>(reader.integer());
  trace.steps = reader.narrow<std::int32_t>(reader.integer());
  trace.tokens_per_step = reader.integer();
  for (std::size_t n = reader.count(1); n > 0; --n) {
    trace.streams.push_back(reader.text());
  }
  for (std::size_t n = reader.count(1); n > 0; --n) {
    trace.step_times.emplace_back(reader.integer());
  }
  for (std::vector<double>* values : {&trace.losses, &trace.gradient_norms}) {
    for (std::size_t n = reader.count(1); n > 0; --n) {
      values->push_back(reader.real());
    }
  }
  for (std::size_t n = reader.count(2); n > 0; --n) {
    std::string key = reader.text();
    trace.made_by[std::move(key)] = reader.text();
  }
}

Result<void> check_file_head(std::string_view bytes, std::string_view where) {
  const auto refuse = [where](ErrorCode code, std::string message) {
    return fail(code, std::move(message), std::string(where));
  };
  if (!bytes.starts_with(kMagic)) {
    return refuse(ErrorCode::kInvalidInput, "is no binary trace: it does not begin with SWTR");
  }
  if (bytes.size() < kHeadLength) {
    return refuse(ErrorCode::kInvalidInput, "ends within its head; is the file complete?");
  }
  std::uint32_t version = 0;
  for (unsigned i = 0; i < 4; ++i) {
    version |= std::uint32_t{static_cast<unsigned char>(bytes[kMagic.size() + i])} << (8 * i);
  }
  if (version != kVersion) {
    return refuse(ErrorCode::kUnsupported,
                  fmt::format("has version {}; this program reads version {}", version, kVersion));
  }
  if (content_hash(bytes.substr(kHeadLength)) != bytes.substr(kMagic.size() + 4, kHashLength)) {
    return refuse(ErrorCode::kInvalidInput,
                  "its content does not have the hash that its head states: the file was cut off, "
                  "changed or damaged");
  }
  return {};
}

}  // namespace

std::string to_binary(const Trace& trace) {
  Writer writer;
  write_head(writer, trace);
  writer.number(trace.events.size());
  for_each_event_column([&](auto field, auto) { writer.column(trace.events, field); });
  writer.number(trace.memory.size());
  for_each_memory_column([&](auto field, auto) { writer.column(trace.memory, field); });
  const std::string content = std::move(writer).take();

  std::string file(kMagic);
  for (unsigned i = 0; i < 4; ++i) {
    file += static_cast<char>((kVersion >> (8 * i)) & 0xFFU);
  }
  file += content_hash(content);
  return file + content;
}

std::string figures_hash(const Trace& trace) {
  Writer writer;
  writer.number(trace.measured ? 1 : 0);
  writer.text(trace.schedule_hash);
  writer.integer(trace.ranks);
  writer.integer(trace.steps);
  writer.integer(trace.tokens_per_step);
  writer.number(trace.step_times.size());
  for (const Duration time : trace.step_times) {
    writer.integer(time.count());
  }
  for (const std::vector<double>* values : {&trace.losses, &trace.gradient_norms}) {
    writer.number(values->size());
    for (const double value : *values) {
      // Text keeps one kind of "not a number", and no sign of zero.
      writer.real(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value + 0.0);
    }
  }
  writer.number(trace.events.size());
  for_each_event_column([&](auto field, auto) { writer.column(trace.events, field); });
  writer.number(trace.memory.size());
  for_each_memory_column([&](auto field, auto) { writer.column(trace.memory, field); });
  return content_hash(std::move(writer).take());
}

Result<Trace> parse_binary(std::string_view bytes, std::string_view where) {
  if (auto checked = check_file_head(bytes, where); !checked) {
    return pass_on(std::move(checked));
  }
  Reader reader(bytes.substr(kHeadLength));
  Trace trace;
  read_head(reader, trace);
  trace.events.resize(reader.count(kEventColumns));
  for_each_event_column([&](auto, auto store) {
    reader.column(trace.events,
                  [&](TraceEvent& event, std::int64_t value) { store(reader, event, value); });
  });
  trace.memory.resize(reader.count(kMemoryColumns));
  for_each_memory_column([&](auto, auto store) {
    reader.column(trace.memory,
                  [&](MemorySample& sample, std::int64_t value) { store(reader, sample, value); });
  });
  if (reader.failed() || !reader.at_end()) {
    return fail(ErrorCode::kInvalidInput,
                "its content is no trace of this version, though its hash is right",
                std::string(where));
  }
  if (auto checked = check_trace(trace, where); !checked) {
    return pass_on(std::move(checked));
  }
  return trace;
}

}  // namespace stagewright
