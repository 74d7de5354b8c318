#pragma once

#include <QtTest/QTest>
#include <gtest/gtest.h>

#include "gui/models/document.h"
#include "gui/models/selection.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "tests/unit/gui/made_traces.h"

namespace stagewright::gui {

/// A file as open_file() would make it of a trace.
inline OpenedFile opened(Trace trace) {
  return open_content(to_binary(trace), "made.swtrace", {}).value();
}

/// A timeline on 4 ranks with 8 micro-batches under 1F1B, shown, drawn and analysed.
class TimelineTest : public testing::Test {
 protected:
  void SetUp() override {
    view_.resize(1000, 400);
    view_.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&view_));
    document_.show(opened(test::pipeline_trace("1f1b", 4, 8)));
    document_.analyse_now();
    view_.setFocus();
    wait_for_picture();
  }
  void wait_for_picture() {
    ASSERT_TRUE(QTest::qWaitFor([&] { return !view_.shows_stretched_picture(); }));
  }
  [[nodiscard]] const ActionStore& store() const { return *document_.actions(); }
  [[nodiscard]] ActionIndex action(std::int32_t rank, std::int32_t place) const {
    return store().find(RankId(rank), place).value();
  }
  [[nodiscard]] QPoint centre_of(ActionIndex action) const {
    return view_.rect_of_action(action).value().center().toPoint();
  }

  Document document_;
  Selection selection_;
  TimelineView view_{&document_, &selection_};
};

}  // namespace stagewright::gui
