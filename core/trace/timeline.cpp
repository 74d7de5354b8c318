#include "core/trace/timeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "core/trace/optimizer_waits.h"

namespace stagewright {
namespace {

bool fills_the_rank(ActionKind kind) {
  return is_compute(kind) || kind == ActionKind::kOptimizerStep;
}

void add_event(const TraceEvent& event, const OptimizerWaits& waits, TimelineRow& row) {
  const Action action{.kind = event.action, .stage = event.stage, .micro_batch = event.micro_batch};
  if (!fills_the_rank(event.action)) {
    if (event.end > event.start) {
      row.messages.push_back({.start = event.start, .end = event.end, .action = action});
    }
    return;
  }
  if (!row.boxes.empty()) {
    TimelineBox& last = row.boxes.back();
    if (!last.paired && last.start == event.start && last.end == event.end &&
        event.end > event.start) {
      last.paired = action;
      return;
    }
  }
  for (const WorkedStretch& stretch : waits.worked(event)) {
    row.boxes.push_back({.start = stretch.start, .end = stretch.end, .action = action});
  }
}

bool earlier(const TimelineBox& a, const TimelineBox& b) {
  return a.start < b.start;
}

/// Chunks, busy time and order.
void finish(TimelineRow& row, Timeline& timeline) {
  std::set<std::int32_t> stages;
  for (const TimelineBox& box : row.boxes) {
    if (is_compute(box.action.kind)) {
      stages.insert(box.action.stage.value());
    }
  }
  const auto set_chunk = [&stages](TimelineBox& box) {
    const auto found = stages.find(box.action.stage.value());
    box.chunk =
        found == stages.end() ? 0 : static_cast<std::int32_t>(std::distance(stages.begin(), found));
  };
  std::for_each(row.boxes.begin(), row.boxes.end(), set_chunk);
  std::for_each(row.messages.begin(), row.messages.end(), set_chunk);
  std::stable_sort(row.boxes.begin(), row.boxes.end(), earlier);
  std::stable_sort(row.messages.begin(), row.messages.end(), earlier);
  for (const TimelineBox& box : row.boxes) {
    row.busy += box.end - box.start;
  }
  timeline.chunks = std::max(timeline.chunks, static_cast<std::int32_t>(stages.size()));
}

/// Gathers short boxes.
class Joiner {
 public:
  Joiner(const std::vector<TimelineBox>& boxes, Duration least) : boxes_(boxes), least_(least) {}

  std::vector<TimelineSpan> run() && {
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      const TimelineBox& box = boxes_[i];
      const bool is_short = box.end - box.start < least_;
      if (open_ && (!is_short || box.start - open_->end >= least_)) {
        close();
      }
      if (!open_) {
        open_ = TimelineSpan{.start = box.start, .end = box.end, .first = i, .count = 0};
      }
      add(box);
      if (!is_short || open_->end - open_->start >= least_) {
        close();
      }
    }
    if (open_) {
      close();
    }
    return std::move(spans_);
  }

 private:
  void add(const TimelineBox& box) {
    const Duration length = box.end - box.start;
    open_->end = box.end;
    ++open_->count;
    open_->busy += length;
    by_kind_[static_cast<std::size_t>(box.action.kind)] += length;
  }

  void close() {
    const auto most = std::max_element(by_kind_.begin(), by_kind_.end());
    open_->most = static_cast<ActionKind>(std::distance(by_kind_.begin(), most));
    if (open_->busy == Duration{}) {
      open_->most = boxes_[open_->first].action.kind;
    }
    spans_.push_back(*open_);
    open_.reset();
    by_kind_.fill(Duration{});
  }

  const std::vector<TimelineBox>& boxes_;
  Duration least_;
  std::vector<TimelineSpan> spans_;
  std::optional<TimelineSpan> open_;
  std::array<Duration, kActionKindCount> by_kind_{};
};

}  // namespace

Timeline make_timeline(const Trace& trace, std::int32_t step) {
  const OptimizerWaits waits(trace);
  std::map<RankId, TimelineRow> rows;
  Timeline timeline;
  for (const TraceEvent& event : trace.events) {
    if (event.step == step && !event.op_index) {
      add_event(event, waits, rows[event.rank]);
      timeline.length = std::max(timeline.length, event.end.time_since_epoch());
    }
  }
  for (auto& [rank, row] : rows) {
    row.rank = rank;
    finish(row, timeline);
    timeline.rows.push_back(std::move(row));
  }
  return timeline;
}

std::vector<TimelineSpan> join_short(const std::vector<TimelineBox>& boxes, Duration least) {
  return Joiner(boxes, least).run();
}

TimeUnit usual_unit(Duration length) {
  using namespace std::chrono_literals;
  if (length >= 1s) {
    return {1, "s"};
  }
  if (length >= 1ms) {
    return {1e-3, "ms"};
  }
  return length >= 1us ? TimeUnit{1e-6, "us"} : TimeUnit{1e-9, "ns"};
}

std::vector<double> axis_marks(Duration length, const TimeUnit& unit, int most) {
  std::vector<double> marks{0};
  const double end = to_seconds(length) / unit.seconds;
  if (end <= 0) {
    return marks;
  }
  double step = std::pow(10, std::floor(std::log10(end / most)));
  for (const double factor : {2.0, 2.5, 2.0, 2.0}) {  // 1, 2, 5, 10, 20
    if (end / step <= most) {
      break;
    }
    step *= factor;
  }
  // A mark at the end itself may be off by a rounding.
  for (int i = 1; i * step <= end * (1 + 1e-9); ++i) {
    marks.push_back(i * step);
  }
  return marks;
}

}  // namespace stagewright
