#include "core/trace/trace.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/hash.h"

namespace stagewright {
namespace {

TimePoint at(std::int64_t picoseconds) {
  return TimePoint(Duration(picoseconds));
}

class RandomTrace {
 public:
  explicit RandomTrace(std::uint64_t seed) : random_(seed) {}

  Trace make() {
    Trace trace;
    trace.measured = number(0, 1) == 1;
    trace.clock = text();
    trace.schedule_hash = text();
    trace.model = text();
    trace.plan_summary = text();
    trace.ranks = static_cast<std::int32_t>(number(1, 5));
    trace.steps = static_cast<std::int32_t>(number(1, 3));
    trace.tokens_per_step = number(0, kLarge);
    for (std::int64_t i = number(1, 4); i > 0; --i) {
      trace.streams.push_back(text());
    }
    for (std::int32_t i = 0; i < trace.steps; ++i) {
      trace.step_times.emplace_back(number(0, kLarge / 2));  // their sum fits, too
      if (trace.measured) {
        trace.losses.push_back(real());
        trace.gradient_norms.push_back(number(0, 1) == 0 ? HUGE_VAL : real());
      }
    }
    for (std::int64_t i = number(0, 3); i > 0; --i) {
      trace.made_by[text()] = text();
    }
    for (std::int64_t i = number(0, 40); i > 0; --i) {
      trace.events.push_back(event(trace));
    }
    for (std::int64_t i = number(0, 20); i > 0; --i) {
      MemorySample sample;
      sample.rank = RankId(index(trace.ranks));
      sample.step = index(trace.steps);
      sample.at = at(number(-kLarge, kLarge));
      for (Bytes& live : sample.live) {
        live = Bytes(number(0, kLarge));
      }
      trace.memory.push_back(sample);
    }
    return trace;
  }

 private:
  /// Beyond what a double holds exactly.
  static constexpr std::int64_t kLarge = std::int64_t{1} << 61;

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  std::int32_t index(std::int64_t size) { return static_cast<std::int32_t>(number(0, size - 1)); }
  double real() { return std::exp(std::uniform_real_distribution<double>(-300, 300)(random_)); }
  std::string text() {
    static const std::vector<std::string> pieces{
        "a", "b", " ", "\"", "\\", "\n", "\t", "\x01", "{", "\xc3\xa9", "\xf0\x9f\x9a\x80", "0"};
    std::string made;
    for (std::int64_t i = number(0, 6); i > 0; --i) {
      made += pieces[static_cast<std::size_t>(index(static_cast<std::int64_t>(pieces.size())))];
    }
    return made;
  }

  TraceEvent event(const Trace& trace) {
    TraceEvent e;
    e.rank = RankId(index(trace.ranks));
    e.stream = StreamId(index(static_cast<std::int64_t>(trace.streams.size())));
    e.step = index(trace.steps);
    e.action_index = index(std::numeric_limits<std::int32_t>::max());
    if (number(0, 1) == 0) {
      e.op_index = index(1000);
      e.op = static_cast<OpKind>(number(0, kOpKindCount - 1));
    }
    e.action = static_cast<ActionKind>(number(0, kActionKindCount - 1));
    e.stage = StageId(index(64));
    e.micro_batch = MicroBatchId(index(4096));
    std::array<std::int64_t, 4> times{};
    std::ranges::generate(times, [&] { return number(-kLarge, kLarge); });
    std::ranges::sort(times);
    e.posted = at(times[0]);
    e.ready = at(times[1]);
    e.start = at(times[2]);
    e.end = at(times[3]);
    e.bytes = Bytes(number(0, kLarge));
    e.flops = Flops(number(0, 2) == 0 ? 0.0 : real());
    return e;
  }

  std::mt19937_64 random_;
};

TEST(Trace, BothFormsGiveRandomTracesBackExactly) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Trace trace = RandomTrace(seed).make();
    for (const std::string& content : {to_chrome_json(trace), to_binary(trace)}) {
      const auto read = parse_trace(content, "t");
      ASSERT_TRUE(read.has_value()) << "seed " << seed << ": " << read.error().to_string();
      EXPECT_EQ(*read, trace) << "seed " << seed;
    }
  }
}

TEST(Trace, ALossThatIsNoNumberSurvives) {
  Trace trace;
  trace.losses = {std::numeric_limits<double>::quiet_NaN(), -HUGE_VAL, 2.5};
  for (const std::string& content : {to_chrome_json(trace), to_binary(trace)}) {
    const auto read = parse_trace(content, "t");
    ASSERT_TRUE(read.has_value()) << read.error().to_string();
    EXPECT_TRUE(std::isnan(read->losses.at(0)));
    EXPECT_EQ(read->losses.at(1), -HUGE_VAL);
    EXPECT_EQ(read->losses.at(2), 2.5);
  }
}

/// Two ranks and two steps of one action with one operation.
Trace small_trace() {
  Trace trace;
  trace.clock = "model";
  trace.ranks = 2;
  trace.steps = 2;
  trace.streams = {"compute", "data"};
  trace.step_times = {Duration(5'000'000), Duration(4'000'000)};
  TraceEvent event;
  event.rank = RankId(1);
  event.action = ActionKind::kBackward;
  event.stage = StageId(2);
  event.micro_batch = MicroBatchId(3);
  event.posted = event.ready = at(1'000'000);
  event.start = at(1'000'001);
  event.end = at(3'500'000);
  trace.events.push_back(event);
  event.step = 1;
  event.action = ActionKind::kReduceGradients;
  event.stage = StageId(0);
  event.micro_batch = MicroBatchId(0);
  event.op_index = 0;
  event.op = OpKind::kAllReduce;
  event.stream = StreamId(1);
  trace.events.push_back(event);
  MemorySample sample;
  sample.at = at(250'000);
  sample.live[0] = 64_B;
  trace.memory.push_back(sample);
  return trace;
}

TEST(ChromeJson, IsWhatViewersRead) {
  const auto json = nlohmann::json::parse(to_chrome_json(small_trace()));
  const nlohmann::json& events = json["traceEvents"];
  const auto name = [](std::string_view kind, int pid, int tid, std::string_view text) {
    return nlohmann::json{
        {"ph", "M"}, {"name", kind}, {"pid", pid}, {"tid", tid}, {"args", {{"name", text}}}};
  };
  ASSERT_EQ(events.size(), 7U);
  EXPECT_EQ(events[0], name("process_name", 0, 0, "rank 0"));
  EXPECT_EQ(events[1], name("process_name", 1, 0, "rank 1"));
  EXPECT_EQ(events[2], name("thread_name", 1, 0, "compute"));
  EXPECT_EQ(events[3], name("thread_name", 1, 3, "data operations"));

  EXPECT_EQ(events[4]["ph"], "X");
  EXPECT_EQ(events[4]["name"], "2B3");
  EXPECT_EQ(events[4]["cat"], "backward");
  EXPECT_EQ(events[4]["ts"], 1.000001);
  EXPECT_EQ(events[4]["dur"], 2.499999);
  // The second step begins where the first one ended.
  EXPECT_EQ(events[5]["name"], "all-reduce");
  EXPECT_EQ(events[5]["ts"], 6.000001);

  EXPECT_EQ(events[6]["ph"], "C");
  EXPECT_EQ(events[6]["ts"], 0.25);
  EXPECT_EQ(events[6]["args"],
            (nlohmann::json{{"parameter", 64},
                            {"gradient", 0},
                            {"optimizer", 0},
                            {"activation", 0},
                            {"workspace", 0},
                            {"communication", 0},
                            {"input", 0}}));
}

std::string error_of(std::string_view content) {
  const auto read = parse_trace(content, "t");
  return read ? "none" : read.error().to_string();
}

TEST(ChromeJson, OtherFilesAreRefused) {
  EXPECT_EQ(error_of(""), "t: is no trace: it begins neither like JSON nor with SWTR");
  EXPECT_EQ(error_of("hello"), "t: is no trace: it begins neither like JSON nor with SWTR");
  EXPECT_EQ(error_of("{\"traceEvents\": []}"),
            "t: is no trace of this program: the key \"stagewright\" is absent");
  EXPECT_EQ(error_of("[]"), "t: is no trace of this program: the key \"stagewright\" is absent");
  const std::string text = to_chrome_json(small_trace());
  for (std::size_t length = 1; length + 2 < text.size(); length += 13) {
    EXPECT_NE(error_of(text.substr(0, length)).find("not valid JSON at line"), std::string::npos);
  }
}

TEST(ChromeJson, WrongValuesAreNamed) {
  const auto error = [](const std::string& pointer, const nlohmann::json& value) {
    auto json = nlohmann::json::parse(to_chrome_json(small_trace()));
    json[nlohmann::json::json_pointer(pointer)] = value;
    return error_of(json.dump());
  };
  EXPECT_EQ(error("/traceEvents/4/pid", 2), "t: event 0: rank 2 does not exist; there are 2");
  EXPECT_EQ(error("/traceEvents/4/tid", 4), "t: event 0: stream 2 does not exist; there are 2");
  EXPECT_EQ(error("/traceEvents/5/args/step", 2), "t: event 1: step 2 does not exist; there are 2");
  EXPECT_EQ(error("/traceEvents/4/cat", "dance"),
            "t:/traceEvents/4/cat: expected a kind of action, found \"dance\"");
  EXPECT_EQ(error("/traceEvents/5/name", "dance"),
            "t:/traceEvents/5/name: expected a kind of operation, found \"dance\"");
  EXPECT_EQ(error("/traceEvents/4/args/end_ps", 7),
            "t:/traceEvents/4/args: its times must be in order: posted, ready, start, end");
  EXPECT_EQ(error("/traceEvents/4/args/bytes", -7),
            "t: event 0: bytes and flops must be finite numbers of 0 or more");
  EXPECT_EQ(error("/traceEvents/4/args/surprise", 1),
            "t:/traceEvents/4/args/surprise: unknown key 'surprise'");
  EXPECT_EQ(error("/traceEvents/6/args/input", -1), "t: memory sample 0: live bytes are negative");
  EXPECT_EQ(error("/traceEvents/4/ph", "B"),
            "t:/traceEvents/4/ph: \"B\" is not written by this program; M, X and C are");
  EXPECT_EQ(error("/traceEvents/4/args/start_ps", 1.5),
            "t:/traceEvents/4/args/start_ps: expected an integer of 64 bits, found 1.5");
  EXPECT_EQ(error("/traceEvents/4/args/start_ps", 18446744073709551615U),
            "t:/traceEvents/4/args/start_ps: expected an integer of 64 bits, found "
            "18446744073709551615");
  EXPECT_EQ(error("/traceEvents/4", 5), "t:/traceEvents/4/ph: is required but absent");
  EXPECT_EQ(error("/traceEvents", 5),
            "t:/traceEvents: must be a list of events; is the file complete?");
  EXPECT_EQ(error("/traceEvents/6/args", 5), "t:/traceEvents/6/args: expected 7 classes of memory");
  EXPECT_EQ(error("/stagewright/version", 2),
            "t:/stagewright/version: is 2; this program reads version 1");
}

TEST(ChromeJson, ChangesByHandAreNoticed) {
  const auto good = nlohmann::json::parse(to_chrome_json(small_trace()));
  EXPECT_EQ(error_of(good.dump()), "none");
  const std::string changed =
      "t:/stagewright/figures_hash: its events and times do not have the hash that the file "
      "states: it was changed after it was written; make it again with --trace";
  auto without_an_event = good;
  without_an_event["traceEvents"].erase(5);
  EXPECT_EQ(error_of(without_an_event.dump()), changed);
  auto with_an_event_twice = good;
  with_an_event_twice["traceEvents"].push_back(good["traceEvents"][4]);
  EXPECT_EQ(error_of(with_an_event_twice.dump()), changed);
  auto slower = good;
  slower["stagewright"]["step_times_ps"][1] = 4'000'001;
  EXPECT_EQ(error_of(slower.dump()), changed);
  auto longer = good;
  longer["traceEvents"][4]["args"]["end_ps"] = 3'600'000;
  EXPECT_EQ(error_of(longer.dump()),
            "t:/traceEvents/4/dur: expected 2.599999, as the times in picoseconds say; found "
            "2.499999");
  auto later = good;
  later["traceEvents"][5]["ts"] = 7.0;
  EXPECT_EQ(error_of(later.dump()),
            "t:/traceEvents/5/ts: expected 6.000001, as the times in picoseconds say; found 7.0");
  auto unstated = good;
  unstated["stagewright"].erase("figures_hash");
  EXPECT_NE(error_of(unstated.dump()).find("figures_hash: is required but absent"),
            std::string::npos);
}

TEST(ChromeJson, TimesBeyondTheClockAreRefused) {
  auto json = nlohmann::json::parse(to_chrome_json(small_trace()));
  json["stagewright"]["step_times_ps"] = {std::numeric_limits<std::int64_t>::max(), 1};
  EXPECT_EQ(error_of(json.dump()),
            "t: step times must be 0 or more, and their sum must fit the clock");
  Trace trace = small_trace();
  trace.events[0].end = at(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(error_of(to_binary(trace)), "t: event 0: its times are beyond what the clock counts");
}

TEST(ChromeJson, TextThatIsNotUtf8IsNoChangeByHand) {
  Trace trace = small_trace();
  trace.made_by["command"] = "stagewright --out \xff.json";
  EXPECT_EQ(error_of(to_chrome_json(trace)), "none");
}

TEST(BinaryTrace, EveryCutAndEveryChangedByteIsNoticed) {
  const std::string good = to_binary(small_trace());
  for (std::size_t i = 0; i < good.size(); ++i) {
    EXPECT_NE(error_of(good.substr(0, i)), "none") << "cut at " << i;
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_NE(error_of(bad), "none") << "changed at " << i;
  }
  EXPECT_NE(error_of(good + 'x'), "none");
  std::string newer = good;
  newer[4] = 3;
  EXPECT_EQ(error_of(newer), "t: has version 3; this program reads version 2");
}

/// A file of that content with the hash that belongs to it.
std::string with_hash(const std::string& content) {
  return std::string("SWTR\x02\0\0\0", 8) + content_hash(content) + content;
}

TEST(BinaryTrace, ContentThatIsNoTraceIsRefusedWhateverItsHash) {
  constexpr std::size_t kHead = 8 + 32;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    std::mt19937_64 random(seed);
    const std::string good = to_binary(RandomTrace(seed).make()).substr(kHead);
    EXPECT_EQ(error_of(with_hash(good)), "none");
    for (std::size_t length = 0; length < good.size(); ++length) {
      EXPECT_NE(error_of(with_hash(good.substr(0, length))), "none") << "seed " << seed;
    }
    // Changed bytes may make another trace; they must not end the program or ask for much memory.
    for (int i = 0; i < 300; ++i) {
      std::string bad = good;
      bad[random() % bad.size()] = static_cast<char>(random());
      (void)error_of(with_hash(bad));
    }
  }
}

TEST(BinaryTrace, ACountThatTheFileCannotHoldIsRefused) {
  // measured, four empty texts, ranks 1, steps 1, tokens 0, then 2^62 streams.
  const std::string content = std::string("\0\0\0\0\0\x02\x02\0", 8) +
                              std::string("\x80\x80\x80\x80\x80\x80\x80\x80\x40", 9) +
                              std::string(100, '\0');
  EXPECT_EQ(error_of(with_hash(content)),
            "t: its content is no trace of this version, though its hash is right");
}

}  // namespace
}  // namespace stagewright
