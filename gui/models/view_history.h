#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "gui/models/scanline.h"

namespace stagewright::gui {

/// Views to go back and forward to, as a browser does.
class ViewHistory {
 public:
  struct View {
    TimeWindow window;
    double scroll = 0;
    friend bool operator==(const View&, const View&) = default;
  };

  /// Notes where the user came to rest; what lay ahead is forgotten.
  void note(const View& view);
  [[nodiscard]] std::optional<View> back();
  [[nodiscard]] std::optional<View> forward();
  void clear();

 private:
  std::vector<View> views_;
  std::size_t at_ = 0;  ///< one behind the view that is shown; 0: none
};

}  // namespace stagewright::gui
