#include <QtGui/QWheelEvent>
#include <QtWidgets/QApplication>
#include <QtWidgets/QScrollBar>

#include "gui/widgets/theme.h"
#include "gui/widgets/timeline/timeline_layout.h"
#include "tests/unit/gui/widgets/shown_trace.h"

namespace stagewright::gui {
namespace {

void turn_wheel(TimelineView& view, QPointF at, int notches, Qt::KeyboardModifiers keys) {
  QWheelEvent event(at,
                    view.viewport()->mapToGlobal(at),
                    {},
                    {0, 120 * notches},
                    Qt::NoButton,
                    keys,
                    Qt::NoScrollPhase,
                    false);
  QApplication::sendEvent(view.viewport(), &event);
}

TEST_F(TimelineTest, ShowsTheWholeStepAndColoursBoxesByTheirKind) {
  EXPECT_LE(view_.window_shown().start, 0);
  EXPECT_GE(view_.window_shown().end(), static_cast<double>(store().length));
  view_.set_show_gaps(false);
  wait_for_picture();
  const QImage image = view_.grab().toImage();
  // Beside the number, inside the box.
  const QRectF forward = *view_.rect_of_action(action(0, 0));
  EXPECT_EQ(image.pixelColor(QPointF(forward.left() + 3, forward.top() + 3).toPoint()).rgb(),
            0xFF56B4E9);
  const QRectF backward = *view_.rect_of_action(action(3, 1));
  EXPECT_EQ(image.pixelColor(QPointF(backward.left() + 3, backward.top() + 3).toPoint()).rgb(),
            0xFF0072B2);
}

TEST_F(TimelineTest, ZoomsAtThePointer) {
  const QPointF at(600, 100);
  const double width = view_.content_rect().width();
  const double before = view_.window_shown().to_time(at.x() - kGutterWidth, width);
  turn_wheel(view_, at, 3, Qt::ControlModifier);
  const double after = view_.window_shown().to_time(at.x() - kGutterWidth, width);
  EXPECT_LT(view_.window_shown().length, 0.6 * static_cast<double>(store().length));
  EXPECT_NEAR(before, after, view_.window_shown().length / width);
}

TEST_F(TimelineTest, PansWithinTheStepOnly) {
  view_.zoom(4);
  const double start = view_.window_shown().start;
  turn_wheel(view_, {600, 100}, -2, Qt::ShiftModifier);
  EXPECT_GT(view_.window_shown().start, start);
  for (int i = 0; i < 100; ++i) {
    view_.pan(0.5);
  }
  EXPECT_LE(view_.window_shown().end(), 1.021 * static_cast<double>(store().length));
}

TEST_F(TimelineTest, SelectsByClickAndKeepsTheSelectionInView) {
  QTest::mouseClick(view_.viewport(), Qt::LeftButton, {}, centre_of(action(1, 3)));
  EXPECT_EQ(selection_.action(), action(1, 3));
  view_.select_neighbour(Direction::kForth);
  EXPECT_EQ(selection_.action(), action(1, 4));
  view_.select_in_next_row(Direction::kForth);
  view_.zoom(30, 0.0);
  for (int i = 0; i < 10; ++i) {
    view_.select_neighbour(Direction::kForth);
    const auto start = static_cast<double>(store().start[*selection_.action()]);
    const auto end = static_cast<double>(store().end[*selection_.action()]);
    EXPECT_LE(view_.window_shown().start, start);
    EXPECT_GE(view_.window_shown().end(), end);
  }
  QTest::mouseClick(view_.viewport(), Qt::LeftButton, {}, QPoint(kGutterWidth + 3, 390));
  EXPECT_EQ(selection_.action(), std::nullopt);
}

TEST_F(TimelineTest, SelectsARangeByDragging) {
  const QPoint from = centre_of(action(0, 0));
  const QPoint to = centre_of(action(1, 6));
  QTest::mousePress(view_.viewport(), Qt::LeftButton, {}, from);
  QTest::mouseMove(view_.viewport(), (from + to) / 2);
  QTest::mouseMove(view_.viewport(), to);
  QTest::mouseRelease(view_.viewport(), Qt::LeftButton, {}, to);
  ASSERT_TRUE(selection_.range());
  EXPECT_LT(selection_.range()->from, store().end[action(0, 0)]);
  EXPECT_GT(selection_.range()->to, store().start[action(1, 6)]);
  EXPECT_EQ(selection_.range()->lanes.size(), 3U);  // both computing, the first one's transfers
  view_.zoom_to_selection();
  EXPECT_NEAR(view_.window_shown().length,
              1.1 * static_cast<double>(selection_.range()->to - selection_.range()->from),
              10);
}

TEST_F(TimelineTest, WalksCausesToTheRootAndBack) {
  selection_.select(action(0, 15));
  view_.select_cause(false);
  const ActionIndex cause = *selection_.action();
  EXPECT_LE(store().end[cause], store().start[action(0, 15)]);
  selection_.select(action(0, 15));
  view_.select_cause(true);
  ASSERT_FALSE(selection_.chain().empty());
  EXPECT_EQ(store().start[selection_.chain().back()], 0);
  EXPECT_EQ(selection_.action(), action(0, 15));
}

TEST_F(TimelineTest, FollowsAMicroBatch) {
  selection_.select(action(0, 0));
  view_.set_show_gaps(false);
  view_.toggle_follow();
  EXPECT_EQ(selection_.followed_micro_batch(), 0);
  wait_for_picture();
  const QImage image = view_.grab().toImage();
  const QRectF other = *view_.rect_of_action(action(0, 1));
  EXPECT_GT(image.pixelColor(QPointF(other.left() + 4, other.top() + 3).toPoint()).lightness(),
            220);
  view_.toggle_follow();
  EXPECT_EQ(selection_.followed_micro_batch(), std::nullopt);
}

TEST_F(TimelineTest, GoesBackToEarlierViews) {
  const TimeWindow first = view_.window_shown();
  view_.zoom(8);
  const TimeWindow second = view_.window_shown();
  view_.view_back();
  EXPECT_EQ(view_.window_shown(), first);
  view_.view_forward();
  EXPECT_EQ(view_.window_shown(), second);
}

TEST_F(TimelineTest, HidesAndPinsTheSelectedRank) {
  const std::size_t rows = view_.rows()->rows.size();
  selection_.select(action(2, 0));
  view_.pin_selected_rank();
  EXPECT_EQ(view_.rows()->rows.front().rank, RankId(2));
  view_.hide_selected_rank();
  EXPECT_LT(view_.rows()->rows.size(), rows);
  view_.show_all_ranks();
  EXPECT_EQ(view_.rows()->rows.size(), rows);
}

TEST_F(TimelineTest, GroupsByStageAndCollapsesOnAClick) {
  view_.group_by_next_axis();
  ASSERT_EQ(view_.choices().group_by, "stage");
  const std::size_t rows = view_.rows()->rows.size();
  QTest::mouseClick(view_.viewport(), Qt::LeftButton, {}, view_.rect_of_row(0).center());
  EXPECT_LT(view_.rows()->rows.size(), rows);
  view_.group_by_next_axis();
  EXPECT_EQ(view_.choices().group_by, std::nullopt);
}

TEST_F(TimelineTest, GoesFromHitToHitAndMarkToMark) {
  selection_.set_hits({action(0, 0), action(1, 0), action(2, 0)});
  view_.select_hit(Direction::kForth);
  EXPECT_EQ(selection_.action(), action(0, 0));
  view_.select_hit(Direction::kForth);
  EXPECT_EQ(selection_.action(), action(1, 0));
  view_.select_hit(Direction::kBack);
  view_.select_hit(Direction::kBack);
  EXPECT_EQ(selection_.action(), action(2, 0));
  view_.add_mark(true);
  view_.add_mark(false);
  selection_.select(action(3, 5));
  view_.add_mark(false);
  ASSERT_EQ(selection_.marks().size(), 2U);
  EXPECT_EQ(selection_.marks()[1], (Mark{store().start[action(3, 5)], false}));
}

TEST_F(TimelineTest, RedrawsInTheColoursOfTheTheme) {
  apply_theme(*qobject_cast<QApplication*>(QApplication::instance()), Theme::kDark);
  QApplication::processEvents();
  wait_for_picture();
  const QImage image = view_.grab().toImage();
  EXPECT_LT(image.pixelColor(20, 390).lightness(), 80);
  EXPECT_LT(image.pixelColor(900, 395).lightness(), 80);
  apply_theme(*qobject_cast<QApplication*>(QApplication::instance()), Theme::kLight);
}

TEST_F(TimelineTest, SurvivesAnotherFileAndNone) {
  selection_.select(action(3, 15));
  view_.pin_selected_rank();
  document_.show(opened(test::pipeline_trace("1f1b", 1, 1)));
  EXPECT_EQ(selection_.action(), std::nullopt);
  wait_for_picture();
  view_.select_neighbour(Direction::kForth);
  document_.close();
  view_.select_neighbour(Direction::kForth);
  view_.zoom(2);
  view_.fit();
  view_.group_by_next_axis();
  QTest::mouseClick(view_.viewport(), Qt::LeftButton, {}, {300, 100});
  EXPECT_FALSE(view_.grab().isNull());
}

}  // namespace
}  // namespace stagewright::gui
