#include "gui/models/view_history.h"

namespace stagewright::gui {
namespace {

constexpr std::size_t kMostViews = 256;

}  // namespace

void ViewHistory::note(const View& view) {
  if (at_ > 0 && views_[at_ - 1] == view) {
    return;
  }
  views_.resize(at_);
  views_.push_back(view);
  if (views_.size() > kMostViews) {
    views_.erase(views_.begin());
  }
  at_ = views_.size();
}

std::optional<ViewHistory::View> ViewHistory::back() {
  if (at_ < 2) {
    return std::nullopt;
  }
  return views_[--at_ - 1];
}

std::optional<ViewHistory::View> ViewHistory::forward() {
  if (at_ >= views_.size()) {
    return std::nullopt;
  }
  return views_[at_++];
}

void ViewHistory::clear() {
  views_.clear();
  at_ = 0;
}

}  // namespace stagewright::gui
