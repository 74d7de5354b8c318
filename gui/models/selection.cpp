#include "gui/models/selection.h"

#include <algorithm>
#include <utility>

namespace stagewright::gui {

void Selection::select(std::optional<ActionIndex> action) {
  if (action_ == action && chain_.empty()) {
    return;
  }
  action_ = action;
  chain_.clear();
  emit changed();
}

void Selection::select_chain(ActionIndex action, std::vector<ActionIndex> chain) {
  action_ = action;
  chain_ = std::move(chain);
  emit changed();
}

void Selection::select_range(std::optional<RangeSelection> range) {
  if (range_ != range) {
    range_ = std::move(range);
    emit changed();
  }
}

void Selection::follow(std::optional<std::int32_t> micro_batch) {
  if (followed_ != micro_batch) {
    followed_ = micro_batch;
    emit changed();
  }
}

void Selection::set_hits(std::vector<ActionIndex> hits) {
  hits_ = std::move(hits);
  emit hits_changed();
}

void Selection::add_mark(const Mark& mark) {
  if (!mark.kept) {
    std::erase_if(marks_, [](const Mark& m) { return !m.kept; });
  }
  marks_.insert(std::ranges::upper_bound(marks_, mark.at, {}, &Mark::at), mark);
  emit marks_changed();
}

void Selection::clear_marks() {
  marks_.clear();
  emit marks_changed();
}

std::optional<Mark> Selection::next_mark(std::int64_t after) const {
  if (marks_.empty()) {
    return std::nullopt;
  }
  const auto next = std::ranges::upper_bound(marks_, after, {}, &Mark::at);
  return next == marks_.end() ? marks_.front() : *next;
}

void Selection::clear() {
  action_.reset();
  chain_.clear();
  range_.reset();
  followed_.reset();
  marks_.clear();
  hits_.clear();
  emit changed();
  emit hits_changed();
  emit marks_changed();
}

}  // namespace stagewright::gui
