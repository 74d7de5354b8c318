// What keys and menus ask of a timeline.

#include <algorithm>
#include <cmath>

#include <QtWidgets/QScrollBar>

#include "gui/widgets/timeline/timeline_view.h"

namespace stagewright::gui {
namespace {

constexpr double kLeastHeight = 0.25;
constexpr double kMostHeight = 64;
constexpr double kMostFittedHeight = 26;  ///< beyond it fewer numbers fit into boxes

}  // namespace

void TimelineView::show_window(TimeWindow window) {
  set_window(window);
}

void TimelineView::set_choices(const RowChoices& choices) {
  if (choices == choices_) {
    return;
  }
  choices_ = choices;
  lay_out();
  emit choices_changed();
}

void TimelineView::set_colour_by(ColourBy by) {
  if (by != colour_by_) {
    colour_by_ = by;
    repaint_actions();
    emit look_changed();
  }
}

void TimelineView::set_show_gaps(bool show) {
  if (show != show_gaps_) {
    show_gaps_ = show;
    ask_for_picture();
    emit look_changed();
  }
}

void TimelineView::set_show_path(bool show) {
  if (show != show_path_) {
    show_path_ = show;
    ask_for_picture();
    emit look_changed();
  }
}

void TimelineView::zoom(double factor, std::optional<double> at_time) {
  const double at = at_time.value_or(pointer_time_.value_or(window_.start + window_.length / 2));
  const double length = window_.length / factor;
  set_window({at - (at - window_.start) / factor, length});
}

void TimelineView::pan(double share_of_window) {
  set_window({window_.start + share_of_window * window_.length, window_.length});
}

void TimelineView::fit() {
  if (actions_) {
    const auto length = static_cast<double>(std::max<std::int64_t>(actions_->length, 1));
    set_window({-0.005 * length, 1.01 * length});
  }
}

void TimelineView::fit_rows() {
  if (!actions_) {
    return;
  }
  const double room = std::max(100, content_rect().height());
  const auto fits = [&](double height) {
    RowChoices choices = choices_;
    choices.height = height;
    return lay_out_rows(*actions_, document_->file()->axes, choices).height <= room;
  };
  double fitting = kLeastHeight;
  double too_high = kMostFittedHeight;
  if (fits(too_high)) {
    fitting = too_high;
  }
  constexpr double kClose = 1.02;
  while (too_high > fitting * kClose) {
    const double middle = std::sqrt(fitting * too_high);
    (fits(middle) ? fitting : too_high) = middle;
  }
  rows_fit_ = true;
  apply_row_height(fitting >= kLeastHeightForText ? std::floor(fitting) : fitting);
}

void TimelineView::set_row_height(double height) {
  rows_fit_ = false;
  apply_row_height(height);
}

void TimelineView::apply_row_height(double height) {
  RowChoices choices = choices_;
  choices.height = std::clamp(height, kLeastHeight, kMostHeight);
  set_choices(choices);
}

void TimelineView::change_row_height(double factor) {
  set_row_height(choices_.height * factor);
}

void TimelineView::zoom_to_selection() {
  if (!actions_) {
    return;
  }
  double from = 0;
  double to = 0;
  if (const auto& range = selection_->range()) {
    from = static_cast<double>(range->from);
    to = static_cast<double>(range->to);
  } else if (const auto action = selection_->action()) {
    from = static_cast<double>(actions_->start[*action]);
    to = static_cast<double>(actions_->end[*action]);
    for (const ActionIndex other : selection_->chain()) {
      from = std::min(from, static_cast<double>(actions_->start[other]));
    }
  } else {
    return;
  }
  const double margin = std::max(0.05 * (to - from), 1.0);
  set_window({from - margin, to - from + 2 * margin});
}

void TimelineView::view_back() {
  note_view();
  if (const auto view = history_.back()) {
    set_window(view->window);
    verticalScrollBar()->setValue(static_cast<int>(view->scroll));
    rest_.stop();
  }
}

void TimelineView::view_forward() {
  if (const auto view = history_.forward()) {
    set_window(view->window);
    verticalScrollBar()->setValue(static_cast<int>(view->scroll));
    rest_.stop();
  }
}

void TimelineView::bring_into_view(ActionIndex action) {
  const auto start = static_cast<double>(actions_->start[action]);
  const auto end = static_cast<double>(actions_->end[action]);
  if (end - start > window_.length || start < window_.start || end > window_.end()) {
    const double length = std::max(window_.length, 1.2 * (end - start));
    set_window({(start + end) / 2 - length / 2, length});
  }
  if (const auto row = rows_->row_of(actions_->lane_of(action))) {
    const LaidOutRow& laid_out = rows_->rows[*row];
    const double visible = content_rect().height();
    if (laid_out.y < scroll()) {
      verticalScrollBar()->setValue(static_cast<int>(std::floor(laid_out.y)));
    } else if (laid_out.bottom() > scroll() + visible) {
      verticalScrollBar()->setValue(static_cast<int>(std::ceil(laid_out.bottom() - visible)));
    }
  }
}

void TimelineView::select(std::optional<ActionIndex> action) {
  if (action) {
    selection_->select(action);
    bring_into_view(*action);
  }
}

void TimelineView::select_neighbour(Direction direction) {
  if (!actions_) {
    return;
  }
  if (const auto action = selection_->action()) {
    select(neighbour_in_lane(*actions_, *action, direction));
  } else if (rows_ && !rows_->lanes.empty()) {
    select(nearest_in_lane(*actions_, rows_->lanes.front(), window_.start));
  }
}

void TimelineView::select_in_next_row(Direction direction) {
  if (const auto action = selection_->action()) {
    select(neighbour_in_rows(*actions_, *rows_, *action, direction));
  } else {
    select_neighbour(direction);
  }
}

void TimelineView::select_same_micro_batch(Direction direction) {
  if (const auto action = selection_->action()) {
    select(neighbour_in_micro_batch(*actions_, *action, direction));
  }
}

void TimelineView::select_cause(bool whole_chain) {
  const auto action = selection_->action();
  const auto analysis = document_->analysis();
  if (!action || !analysis) {
    return;
  }
  if (whole_chain) {
    selection_->select_chain(*action, chain_to_root(*analysis, *action));
    return;
  }
  const auto before = analysis->before_of(*action);
  if (!before.empty()) {
    select(before.front());
  }
}

void TimelineView::select_effect() {
  const auto action = selection_->action();
  const auto analysis = document_->analysis();
  if (action && analysis) {
    const auto after = analysis->after_of(*action);
    if (!after.empty()) {
      select(after.front());
    }
  }
}

void TimelineView::toggle_follow() {
  const auto action = selection_->action();
  if (selection_->followed_micro_batch() || !action) {
    selection_->follow(std::nullopt);
  } else {
    selection_->follow(actions_->micro_batch[*action]);
  }
}

void TimelineView::select_hit(Direction direction) {
  const std::vector<ActionIndex>& hits = selection_->hits();
  if (hits.empty()) {
    return;
  }
  const auto action = selection_->action();
  if (direction == Direction::kForth) {
    const auto next = action ? std::ranges::upper_bound(hits, *action) : hits.begin();
    select(next == hits.end() ? hits.front() : *next);
  } else {
    const auto next = action ? std::ranges::lower_bound(hits, *action) : hits.end();
    select(next == hits.begin() ? hits.back() : *(next - 1));
  }
}

void TimelineView::add_mark(bool kept) {
  if (!actions_) {
    return;
  }
  double at = pointer_time_.value_or(window_.start + window_.length / 2);
  if (const auto action = selection_->action()) {
    at = static_cast<double>(actions_->start[*action]);
  }
  selection_->add_mark({static_cast<std::int64_t>(at), kept});
}

void TimelineView::go_to_next_mark() {
  const double middle = window_.start + window_.length / 2;
  if (const auto mark = selection_->next_mark(static_cast<std::int64_t>(middle) + 1)) {
    set_window({static_cast<double>(mark->at) - window_.length / 2, window_.length});
  }
}

void TimelineView::clear_selection() {
  selection_->select(std::nullopt);
  selection_->select_range(std::nullopt);
  selection_->follow(std::nullopt);
}

std::optional<RankId> TimelineView::rank_of_interest() const {
  const auto action = selection_->action();
  return action ? std::optional(actions_->lanes[actions_->lane_of(*action)].rank) : std::nullopt;
}

void TimelineView::pin_selected_rank() {
  const auto rank = rank_of_interest();
  if (!rank) {
    return;
  }
  RowChoices choices = choices_;
  if (std::erase(choices.pinned, *rank) == 0) {
    choices.pinned.push_back(*rank);
  }
  set_choices(choices);
}

void TimelineView::hide_selected_rank() {
  if (const auto rank = rank_of_interest()) {
    RowChoices choices = choices_;
    choices.hidden.insert(*rank);
    std::erase(choices.pinned, *rank);
    set_choices(choices);
  }
}

void TimelineView::show_all_ranks() {
  RowChoices choices = choices_;
  choices.hidden.clear();
  set_choices(choices);
}

void TimelineView::group_by_next_axis() {
  if (!actions_) {
    return;
  }
  const RankAxes& axes = document_->file()->axes;
  RowChoices choices = choices_;
  choices.collapsed.clear();
  const auto now = std::ranges::find_if(
      axes, [&](const RankAxis& axis) { return choices.group_by == axis.name; });
  const auto next = choices.group_by && now != axes.end() ? now + 1 : axes.begin();
  choices.group_by = next == axes.end() ? std::nullopt : std::optional(next->name);
  set_choices(choices);
}

void TimelineView::toggle_group(std::int32_t group) {
  RowChoices choices = choices_;
  if (choices.collapsed.erase(group) == 0) {
    choices.collapsed.insert(group);
  }
  set_choices(choices);
}

}  // namespace stagewright::gui
