#include "study/traced_passes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stagewright {
namespace {

using Spans = std::vector<const KinetoSpan*>;

constexpr std::string_view kDigits = "0123456789";

[[nodiscard]] double end_of(const KinetoSpan& span) {
  return span.begin_us + span.duration_us;
}

/// "Block" of "Block_12".
[[nodiscard]] std::string class_of_module(const std::string& name) {
  const std::size_t last = name.find_last_not_of(kDigits);
  return last != std::string::npos && last + 1 < name.size() && name[last] == '_'
             ? name.substr(0, last)
             : name;
}

/// "layer # forward" of "layer 12 forward": the last number of the name counts.
[[nodiscard]] std::string class_of_annotation(const std::string& name) {
  const std::size_t last = name.find_last_of(kDigits);
  if (last == std::string::npos) {
    return name;
  }
  const std::size_t before = name.find_last_not_of(kDigits, last);
  const std::size_t first = before == std::string::npos ? 0 : before + 1;
  return name.substr(0, first) + "#" + name.substr(last + 1);
}

/// Calls of one class on one thread, without those inside another of them.
struct Calls {
  Spans spans;
  std::set<std::string_view> names;
  double total_us = 0;

  void add(const KinetoSpan& span) {
    if (!spans.empty() && span.begin_us < end_of(*spans.back())) {
      return;
    }
    spans.push_back(&span);
    names.insert(span.name);
    total_us += span.duration_us;
  }
};

using CallsByClass = std::map<std::pair<std::string, std::int32_t>, Calls>;

/// Backward passes of checkpointed blocks call their modules again; those calls are left out.
[[nodiscard]] CallsByClass calls_by_class(const KinetoTrace& trace) {
  std::map<std::int32_t, Spans> backwards;
  for (const KinetoOp* op : outermost(trace.ops)) {
    if (op->backward) {
      backwards[op->thread].push_back(op);
    }
  }
  const auto in_backward = [&](const KinetoSpan& span) {
    const Spans& of_thread = backwards[span.thread];
    const auto behind = std::ranges::upper_bound(
        of_thread, span.begin_us, {}, [](const KinetoSpan* op) { return op->begin_us; });
    return behind != of_thread.begin() && span.begin_us < end_of(**(behind - 1));
  };
  CallsByClass calls;
  for (const KinetoSpan& module : trace.modules) {
    if (!in_backward(module)) {
      calls[{class_of_module(module.name), module.thread}].add(module);
    }
  }
  for (const KinetoSpan& annotation : trace.annotations) {
    if (!is_between_passes(annotation) && !annotation.name.starts_with("ProfilerStep#") &&
        !in_backward(annotation)) {
      calls[{class_of_annotation(annotation.name), annotation.thread}].add(annotation);
    }
  }
  return calls;
}

/// The calls as passes of `blocks` each: by the order of their names, or, where all have one name
/// and the user says that these are the blocks (else they could be passes), one after the other.
/// What is no whole pass is left out.
[[nodiscard]] std::vector<Spans> passes_of(const Calls& calls, std::size_t blocks, bool meant) {
  std::vector<Spans> passes;
  if (meant && calls.names.size() == 1 && calls.spans.size() % blocks == 0) {
    for (std::size_t i = 0; i < calls.spans.size(); i += blocks) {
      const auto first = calls.spans.begin() + static_cast<std::ptrdiff_t>(i);
      passes.emplace_back(first, first + static_cast<std::ptrdiff_t>(blocks));
    }
    return passes;
  }
  if (calls.names.size() != blocks) {
    return passes;
  }
  std::vector<std::string_view> order;
  Spans pass;
  for (const KinetoSpan* span : calls.spans) {
    if (order.size() < blocks && std::ranges::find(order, span->name) == order.end()) {
      order.emplace_back(span->name);
    }
    if (span->name != order[pass.size()]) {
      pass.clear();
    }
    if (span->name == order[pass.size()]) {
      pass.push_back(span);
    }
    if (pass.size() == blocks) {
      passes.push_back(std::exchange(pass, {}));
    }
  }
  return passes;
}

/// What there is, for an error: the classes that are called most.
[[nodiscard]] std::string described(const CallsByClass& all) {
  std::vector<std::pair<std::size_t, std::string>> classes;
  for (const auto& [key, calls] : all) {
    classes.emplace_back(calls.names.size(), key.first);
  }
  if (classes.empty()) {
    return "it names neither modules nor ranges; record it with with_stack=True, or put each block "
           "into torch.profiler.record_function(\"block N\")";
  }
  std::ranges::sort(classes, std::greater{});
  constexpr std::size_t kShown = 12;
  classes.resize(std::min(classes.size(), kShown));
  std::vector<std::string> texts;
  texts.reserve(classes.size());
  for (const auto& [count, name] : classes) {
    texts.push_back(fmt::format("{} of '{}'", count, name));
  }
  return fmt::format(
      "it has {}; name the model's file whose 'layers' these are, or the blocks "
      "with --blocks",
      fmt::join(texts, ", "));
}

/// The outermost span around all of a pass that no other pass lies in.
[[nodiscard]] const KinetoSpan* around(const std::vector<KinetoSpan>& spans,
                                       const std::vector<Spans>& passes,
                                       std::size_t pass) {
  const Spans& blocks = passes[pass];
  const KinetoSpan* widest = nullptr;
  for (const KinetoSpan& span : spans) {
    if (span.begin_us > blocks.front()->begin_us) {
      break;
    }
    const bool holds_pass =
        span.thread == blocks.front()->thread && end_of(span) >= end_of(*blocks.back());
    const bool holds_other =
        (pass > 0 && span.begin_us <= passes[pass - 1].back()->begin_us) ||
        (pass + 1 < passes.size() && end_of(span) > passes[pass + 1].front()->begin_us);
    const bool is_block = std::ranges::find(blocks, &span) != blocks.end();
    if (holds_pass && !holds_other && !is_block &&
        (widest == nullptr || span.duration_us > widest->duration_us)) {
      widest = &span;
    }
  }
  return widest;
}

class RegionMaker {
 public:
  RegionMaker(const KinetoTrace& trace, const std::vector<Spans>& passes)
      : trace_(trace), passes_(passes) {
    for (const KinetoOp* op : outermost(trace.ops)) {
      if (op->backward) {
        backwards_.push_back(op);
      }
    }
  }

  [[nodiscard]] std::vector<TracedRegion> run() {
    std::vector<double> begins;
    for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
      begins.push_back(begin_of(pass));
    }
    begins.push_back(std::numeric_limits<double>::max());
    std::vector<TracedRegion> regions;
    for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
      const Spans& blocks = passes_[pass];
      const double behind = regions.empty() ? begins[pass] : regions.back().end_us;
      regions.push_back({std::max(begins[pass], behind), blocks.front()->begin_us, pass, 0});
      for (std::size_t block = 0; block < blocks.size(); ++block) {
        // What runs between two blocks belongs to the former.
        const double end =
            block + 1 < blocks.size() ? blocks[block + 1]->begin_us : end_of(*blocks[block]);
        regions.push_back({blocks[block]->begin_us, end, pass, block + 1});
      }
      const double last = end_of(*blocks.back());
      regions.push_back(
          {last, std::min(backward_behind(last), begins[pass + 1]), pass, blocks.size() + 1});
    }
    return regions;
  }

 private:
  /// A pass begins with the module around it, or behind the backward before it.
  [[nodiscard]] double begin_of(std::size_t pass) const {
    const double first = passes_[pass].front()->begin_us;
    const KinetoSpan* root = around(trace_.modules, passes_, pass);
    if (root == nullptr) {
      root = around(trace_.annotations, passes_, pass);
    }
    double begin = root == nullptr ? std::numeric_limits<double>::lowest() : root->begin_us;
    for (const KinetoOp* op : backwards_) {
      if (op->begin_us >= first) {
        break;
      }
      begin = std::max(begin, end_of(*op));
    }
    return std::min(begin, first);
  }

  [[nodiscard]] double backward_behind(double time_us) const {
    const auto next = std::ranges::lower_bound(
        backwards_, time_us, {}, [](const KinetoOp* op) { return op->begin_us; });
    return next == backwards_.end() ? std::numeric_limits<double>::max() : (*next)->begin_us;
  }

  const KinetoTrace& trace_;
  const std::vector<Spans>& passes_;
  std::vector<const KinetoOp*> backwards_;  ///< of all threads, by their begin
};

}  // namespace

Result<TracedPasses> find_passes(const KinetoTrace& trace,
                                 std::size_t blocks,
                                 const std::string& block,
                                 const std::string& where) {
  const CallsByClass all = calls_by_class(trace);
  std::vector<Spans> chosen;
  double longest = -1;
  TracedPasses passes;
  for (const auto& [key, calls] : all) {
    const bool meant = block.empty() ? blocks > 1 : key.first == block;
    if (!meant || calls.total_us <= longest) {
      continue;
    }
    std::vector<Spans> found = passes_of(calls, blocks, !block.empty());
    if (!found.empty()) {
      longest = calls.total_us;
      passes.block = key.first;
      passes.thread = key.second;
      chosen = std::move(found);
    }
  }
  if (chosen.empty()) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("the trace {}shows no whole pass through {} blocks{}: {}",
                            trace.cut_off ? "is cut off and " : "",
                            blocks,
                            block.empty() ? "" : fmt::format(" called '{}'", block),
                            described(all)),
                where);
  }
  for (const KinetoSpan* span : chosen.front()) {
    passes.names.push_back(span->name);
  }
  passes.count = chosen.size();
  passes.regions = RegionMaker(trace, chosen).run();
  return passes;
}

const TracedRegion* region_at(const TracedPasses& passes, double time_us) {
  const auto behind =
      std::ranges::upper_bound(passes.regions, time_us, {}, &TracedRegion::begin_us);
  if (behind == passes.regions.begin() || time_us >= (behind - 1)->end_us) {
    return nullptr;
  }
  return &*(behind - 1);
}

std::vector<const KinetoOp*> outermost(const std::vector<KinetoOp>& ops) {
  std::vector<const KinetoOp*> result;
  std::map<std::int32_t, double> ends;  // by thread
  for (const KinetoOp& op : ops) {
    const auto [end, is_first] = ends.try_emplace(op.thread, op.begin_us);
    if (is_first || op.begin_us >= end->second) {
      result.push_back(&op);
      end->second = op.begin_us + op.duration_us;
    }
  }
  return result;
}

bool is_between_passes(const KinetoSpan& annotation) {
  return annotation.name.starts_with("Optimizer.") ||
         annotation.name.starts_with("enumerate(DataLoader)");
}

}  // namespace stagewright
