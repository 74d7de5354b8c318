#include "formats/kineto.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace stagewright {
namespace {

constexpr std::string_view kModule = "nn.Module: ";
constexpr std::string_view kEvaluates = "autograd::engine::evaluate_function: ";

/// The keys of an event that are read.
struct Event {
  std::string phase;
  std::string category;
  std::string name;
  std::string process;
  std::string thread;
  std::optional<double> begin_us;
  std::optional<double> duration_us;
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> forward_thread;
  std::optional<std::int64_t> correlation;
  std::vector<std::vector<std::int64_t>> input_dims;
  std::vector<std::string> input_types;
};

/// Takes a file of gigabytes event by event, so that no tree of it is ever in memory.
class EventReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit EventReader(KinetoTrace& trace) : trace_(trace) {}

  /// Where the text stopped to be JSON, and why.
  [[nodiscard]] std::size_t fault_at() const { return fault_at_; }
  [[nodiscard]] const std::string& fault() const { return fault_; }

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t number) override {
    return integer(number, static_cast<double>(number));
  }
  bool number_unsigned(number_unsigned_t number) override {
    // Numbers beyond the range mean "none" (sequence numbers of nodes that have none).
    return std::in_range<std::int64_t>(number)
               ? integer(static_cast<std::int64_t>(number), static_cast<double>(number))
               : value();
  }
  bool number_float(number_float_t number, const string_t&) override {
    if (in_event()) {
      take_number(number);
    }
    return value();
  }
  bool string(string_t& text) override {
    if (in_event()) {
      take_text(text);
    } else if (in_arguments(1) && key() == "Input type") {
      event_.input_types.push_back(std::move(text));
    } else if (levels_.size() == 3 && levels_[0].key == "deviceProperties" && key() == "name") {
      trace_.devices.push_back(std::move(text));
    }
    return value();
  }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override {
    levels_.push_back({});
    if (in_event()) {
      event_ = {};
    }
    return true;
  }
  bool key(string_t& text) override {
    levels_.back().key = std::move(text);
    return true;
  }
  bool end_object() override {
    if (in_event()) {
      keep();
    }
    levels_.pop_back();
    return value();
  }
  bool start_array(std::size_t) override {
    if (in_arguments(1) && key() == "Input Dims") {
      event_.input_dims.emplace_back();
    }
    levels_.push_back({.array = true, .key = {}});
    return true;
  }
  bool end_array() override {
    levels_.pop_back();
    return value();
  }
  bool parse_error(std::size_t position,
                   const std::string&,
                   const nlohmann::json::exception& error) override {
    fault_at_ = position;
    const std::string_view what(error.what());
    const std::size_t reason = what.find("syntax error");
    fault_ = reason == std::string_view::npos ? what : what.substr(reason);
    return false;
  }

 private:
  struct Level {
    bool array = false;
    std::string key;  ///< of an object: the one whose value comes
  };

  static bool value() { return true; }

  /// Depth of the list of events.
  [[nodiscard]] std::size_t list_depth() const {
    if (levels_.empty()) {
      return 0;
    }
    return levels_[0].array ? 1 : 2;
  }
  [[nodiscard]] bool in_list() const {
    return !levels_.empty() && (levels_[0].array || levels_[0].key == "traceEvents");
  }
  /// Directly inside an event.
  [[nodiscard]] bool in_event() const {
    return in_list() && levels_.size() == list_depth() + 1 && !levels_.back().array;
  }
  /// Inside an event's arguments, and so many lists inside one of them.
  [[nodiscard]] bool in_arguments(std::size_t lists) const {
    const std::size_t depth = list_depth() + 2;
    return in_list() && levels_.size() == depth + lists && levels_[depth - 2].key == "args" &&
           !levels_[depth - 1].array;
  }
  /// The key of the innermost object.
  [[nodiscard]] const std::string& key() const {
    const auto object = std::find_if(
        levels_.rbegin(), levels_.rend(), [](const Level& level) { return !level.array; });
    return object->key;
  }

  bool integer(std::int64_t exact, double number) {
    if (in_event()) {
      take_number(number);
      if (key() == "pid") {
        event_.process = std::to_string(exact);
      } else if (key() == "tid") {
        event_.thread = std::to_string(exact);
      }
    } else if (in_arguments(0)) {
      if (key() == "Sequence number") {
        event_.sequence = exact;
      } else if (key() == "Fwd thread id") {
        event_.forward_thread = exact;
      } else if (key() == "correlation") {
        event_.correlation = exact;
      }
    } else if (in_arguments(2) && key() == "Input Dims" && !event_.input_dims.empty()) {
      event_.input_dims.back().push_back(exact);
    }
    return value();
  }

  void take_number(double number) {
    if (key() == "ts") {
      event_.begin_us = number;
    } else if (key() == "dur") {
      event_.duration_us = number;
    }
  }

  void take_text(std::string& text) {
    if (key() == "ph") {
      event_.phase = std::move(text);
    } else if (key() == "cat") {
      event_.category = std::move(text);
    } else if (key() == "name") {
      event_.name = std::move(text);
    } else if (key() == "pid") {
      event_.process = std::move(text);
    } else if (key() == "tid") {
      event_.thread = std::move(text);
    }
  }

  [[nodiscard]] std::int32_t thread_of(const Event& event) {
    const auto next = static_cast<std::int32_t>(threads_.size());
    return threads_.try_emplace({event.process, event.thread}, next).first->second;
  }

  [[nodiscard]] KinetoSpan span_of(Event& event) {
    return {std::move(event.name), thread_of(event), *event.begin_us, *event.duration_us};
  }

  void keep() {
    Event& event = event_;
    if (event.phase != "X" || !event.begin_us || !event.duration_us || *event.duration_us < 0) {
      return;
    }
    const std::string& category = event.category;
    if (category == "cpu_op" || category == "Operator") {
      const bool backward =
          event.forward_thread.value_or(0) != 0 || event.name.starts_with(kEvaluates);
      trace_.ops.push_back({span_of(event),
                            event.sequence && *event.sequence >= 0 ? event.sequence : std::nullopt,
                            backward,
                            std::move(event.input_dims),
                            std::move(event.input_types)});
    } else if (category == "python_function") {
      if (event.name.starts_with(kModule)) {
        event.name.erase(0, kModule.size());
        trace_.modules.push_back(span_of(event));
      }
    } else if (category == "user_annotation") {
      trace_.annotations.push_back(span_of(event));
    } else if (!event.correlation) {
      return;
    } else if (category == "cuda_runtime" || category == "cuda_driver" || category == "Runtime") {
      trace_.launches.push_back({thread_of(event), *event.begin_us, *event.correlation});
    } else if (category == "kernel" || category == "Kernel" || category == "gpu_memset" ||
               category == "gpu_memcpy") {
      trace_.kernels.push_back({std::move(event.name), *event.duration_us, *event.correlation});
    }
  }

  KinetoTrace& trace_;
  std::vector<Level> levels_;
  Event event_;
  std::map<std::pair<std::string, std::string>, std::int32_t> threads_;
  std::size_t fault_at_ = 0;
  std::string fault_;
};

template <class Span>
void sort_spans(std::vector<Span>& spans) {
  std::ranges::stable_sort(spans, [](const Span& a, const Span& b) {
    return a.begin_us != b.begin_us ? a.begin_us < b.begin_us : a.duration_us > b.duration_us;
  });
}

}  // namespace

Result<KinetoTrace> parse_kineto(std::string_view text, std::string_view where) {
  KinetoTrace trace;
  EventReader reader(trace);
  if (!nlohmann::json::sax_parse(text, &reader)) {
    trace.cut_off = reader.fault_at() >= text.size();
    if (!trace.cut_off) {
      const std::size_t line =
          1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, reader.fault_at()), '\n'));
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("is not JSON at byte {} (line {}): {}; export the trace anew",
                              reader.fault_at(),
                              line,
                              reader.fault()),
                  std::string(where));
    }
  }
  if (trace.ops.empty()) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("holds no operation of PyTorch (category cpu_op){}; write it with "
                            "torch.profiler and export_chrome_trace()",
                            trace.cut_off ? " before it ends too early" : ""),
                std::string(where));
  }
  sort_spans(trace.ops);
  sort_spans(trace.modules);
  sort_spans(trace.annotations);
  std::ranges::stable_sort(trace.launches, {}, &KinetoLaunch::begin_us);
  return trace;
}

}  // namespace stagewright
