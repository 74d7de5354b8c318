// The views around the timeline, each by mouse and by keyboard, and the window in Chinese.

#include <cmath>
#include <set>

#include <QtCore/QLocale>
#include <QtGui/QAction>
#include <QtGui/QHelpEvent>
#include <QtTest/QSignalSpy>
#include <QtTest/QTest>
#include <QtWidgets/QApplication>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QDockWidget>
#include <QtWidgets/QLabel>
#include <QtWidgets/QMenuBar>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QScrollBar>
#include <QtWidgets/QToolTip>
#include <QtWidgets/QTreeView>
#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "core/base/file.h"
#include "gui/app/main_window.h"
#include "gui/app/stored_session.h"
#include "gui/app/translations.h"
#include "gui/models/rank_tree_model.h"
#include "gui/models/ruler.h"
#include "gui/models/words.h"
#include "gui/widgets/cause_bars.h"
#include "gui/widgets/compare_panel.h"
#include "gui/widgets/explore/cluster_form.h"
#include "gui/widgets/explore/topology_view.h"
#include "gui/widgets/memory_view.h"
#include "gui/widgets/message_bar.h"
#include "gui/widgets/rows_panel.h"
#include "gui/widgets/start_page.h"
#include "gui/widgets/statistics_panel.h"
#include "gui/widgets/theme.h"
#include "gui/widgets/timeline/overview_strip.h"
#include "gui/widgets/timeline/timeline_layout.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/gui/widgets/shown_trace.h"

namespace stagewright::gui {
namespace {

/// The colours that a widget shows in an area.
std::set<QRgb> colours_in(QWidget* widget, const QRect& area) {
  const QImage image = widget->grab().toImage();
  std::set<QRgb> colours;
  for (int y = area.top(); y <= area.bottom(); ++y) {
    for (int x = area.left(); x <= area.right(); ++x) {
      colours.insert(image.pixel(x, y));
    }
  }
  return colours;
}

QString tip_at(QWidget* viewport, const QPoint& at) {
  QHelpEvent help(QEvent::ToolTip, at, viewport->mapToGlobal(at));
  QApplication::sendEvent(viewport, &help);
  return QToolTip::text();
}

class ViewsTest : public TimelineTest {};

TEST_F(ViewsTest, CauseBarsShowEachCauseAndAClickChoosesTheRank) {
  CauseBars bars(&document_);
  bars.resize(400, 300);
  bars.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&bars));
  EXPECT_TRUE(bars.notice().isEmpty());
  const auto colours = colours_in(bars.viewport(), bars.viewport()->rect());
  for (const BubbleCause cause : {BubbleCause::kWarmUp, BubbleCause::kCoolDown}) {
    EXPECT_TRUE(colours.contains(colour_of(cause, bars.palette()).rgb())) << name_of(cause);
  }
  int y = 0;
  while (bars.bar_at(QPointF(100, y)) != std::optional<std::size_t>(2)) {
    ASSERT_LT(++y, 300);
  }
  EXPECT_TRUE(tip_at(bars.viewport(), {100, y + 3}).startsWith("rank 2: idle "));
  QSignalSpy chosen(&bars, &CauseBars::rank_chosen);
  QTest::mouseClick(bars.viewport(), Qt::LeftButton, {}, {100, y + 3});
  ASSERT_EQ(chosen.count(), 1);
  EXPECT_EQ(chosen[0][0].value<RankId>(), RankId(2));
  document_.close();
  EXPECT_EQ(bars.notice(), "No file is open.");
}

TEST_F(ViewsTest, CauseBarsOfManyRanksScroll) {
  document_.show(opened(test::pipeline_trace("1f1b", 4, 8, 16)));
  CauseBars bars(&document_);
  bars.resize(400, 200);
  bars.show();
  EXPECT_EQ(bars.verticalScrollBar()->maximum(), 0) << "not known yet why ranks are idle";
  document_.analyse_now();
  ASSERT_GT(bars.verticalScrollBar()->maximum(), 0);
  bars.verticalScrollBar()->setValue(bars.verticalScrollBar()->maximum());
  EXPECT_EQ(bars.bar_at(QPointF(100, bars.viewport()->height() - 6)),
            std::optional<std::size_t>(63));
}

TEST_F(ViewsTest, TheOverviewShowsWhereOneIsAndDraggingItMovesTheTimeline) {
  OverviewStrip strip(&view_);
  strip.resize(1000, strip.sizeHint().height());
  strip.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&strip));
  const auto length = static_cast<double>(store().length);
  const int middle = strip.height() / 2;
  const auto x_of = [&](double share) {
    return kGutterWidth + static_cast<int>(share * (strip.width() - kGutterWidth));
  };
  // Drawn anew, where the whole step is in view.
  QTest::mousePress(&strip, Qt::LeftButton, {}, {x_of(0.25), middle});
  QTest::mouseMove(&strip, {x_of(0.5), middle});
  QTest::mouseRelease(&strip, Qt::LeftButton, {}, {x_of(0.5), middle});
  EXPECT_NEAR(view_.window_shown().start / length, 0.25, 0.02);
  EXPECT_NEAR(view_.window_shown().length / length, 0.25, 0.02);
  // Taken inside its frame, it moves.
  QTest::mousePress(&strip, Qt::LeftButton, {}, {x_of(0.4), middle});
  QTest::mouseMove(&strip, {x_of(0.6), middle});
  QTest::mouseRelease(&strip, Qt::LeftButton, {}, {x_of(0.6), middle});
  EXPECT_NEAR(view_.window_shown().start / length, 0.45, 0.02);
  EXPECT_NEAR(view_.window_shown().length / length, 0.25, 0.02);
  // Hits of a search are ticks.
  const auto before = colours_in(&strip, {kGutterWidth, 0, strip.width() - kGutterWidth, 2});
  selection_.set_hits({action(0, 3)});
  const auto after = colours_in(&strip, {kGutterWidth, 0, strip.width() - kGutterWidth, 2});
  EXPECT_GT(after.size(), before.size());
}

TEST(RulerTest, MarksAreRoundTimesInTheUnitThatSuitsThem) {
  EXPECT_EQ(round_step(0.3), 0.5);
  EXPECT_EQ(round_step(2), 2);
  EXPECT_EQ(round_step(6), 10);
  const TimeUnit seconds{.seconds = 1, .name = "s"};
  const auto marks = ruler_marks({0, 10e9}, 1000, 110, seconds);  // 10 ms
  ASSERT_EQ(marks.size(), 6U);
  EXPECT_EQ(marks[1].time, 2e9);
  EXPECT_EQ(marks[1].label, "2 ms");
  for (std::size_t i = 1; i < marks.size(); ++i) {
    EXPECT_GE((marks[i].time - marks[i - 1].time) / 10e9 * 1000, 110);
  }
  EXPECT_TRUE(ruler_marks({0, 0}, 1000, 110, seconds).empty());
  const auto units = ruler_marks({0, 40e12}, 1000, 110, {.seconds = 1, .name = {}});
  EXPECT_EQ(units[1].label, "5");  // units of work have no name
}

TEST_F(ViewsTest, RowsAreHiddenByKeyAndGroupedByTheBox) {
  RowsPanel panel(&view_);
  panel.resize(300, 300);
  panel.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&panel));
  auto* const tree = panel.findChild<QTreeView*>();
  tree->setCurrentIndex(tree->model()->index(1, RankTreeModel::kName));
  QTest::keyClick(tree, Qt::Key_Space);
  EXPECT_TRUE(view_.choices().hidden.contains(RankId(1)));
  QTest::keyClick(tree, Qt::Key_Space);
  EXPECT_TRUE(view_.choices().hidden.empty());
  auto* const axes = panel.findChild<QComboBox*>();
  ASSERT_GT(axes->count(), 1);
  axes->setFocus();
  QTest::keyClick(axes, Qt::Key_Down);
  ASSERT_TRUE(view_.choices().group_by);
  EXPECT_EQ(QString::fromStdString(*view_.choices().group_by), axes->currentData().toString());
  QTest::keyClick(axes, Qt::Key_Up);
  EXPECT_FALSE(view_.choices().group_by);
}

TEST(StartPageTest, EveryButtonAndARecentFileAskForWhatTheySay) {
  StartPage page;
  page.set_recent({"/somewhere/a plan.plan.json"});
  page.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&page));
  QSignalSpy explore(&page, &StartPage::explore_asked);
  QSignalSpy open(&page, &StartPage::open_asked);
  QSignalSpy example(&page, &StartPage::example_asked);
  QSignalSpy chosen(&page, &StartPage::file_chosen);
  for (QPushButton* const button : page.findChildren<QPushButton*>()) {
    button->setFocus();
    QTest::keyClick(button, Qt::Key_Space);
  }
  EXPECT_EQ(explore.count(), 1);
  EXPECT_EQ(open.count(), 1);
  EXPECT_EQ(example.count(), 1);
  QLabel* recent = nullptr;
  for (QLabel* const label : page.findChildren<QLabel*>()) {
    recent = label->text().contains("a plan.plan.json") ? label : recent;
  }
  ASSERT_NE(recent, nullptr);
  emit recent->linkActivated("/somewhere/a plan.plan.json");
  ASSERT_EQ(chosen.count(), 1);
  EXPECT_EQ(chosen[0][0].toString(), "/somewhere/a plan.plan.json");
}

TEST(TopologyViewTest, DrawsNodesDevicesAndSwitches) {
  TopologyView view;
  view.resize(360, view.sizeHint().height());
  EXPECT_EQ(view.text(), "No cluster.");
  const auto empty = colours_in(&view, view.rect());
  view.set_cluster(find_cluster(DataFiles::embedded(), "16x8xh100-sxm").value());
  view.resize(360, view.sizeHint().height());
  EXPECT_TRUE(view.text().startsWith("16 node(s), 128 device(s), h100-80gb-sxm"))
      << view.text().toStdString();
  EXPECT_EQ(view.accessibleDescription(), view.text());
  EXPECT_GT(colours_in(&view, view.rect()).size(), empty.size());
  view.set_cluster(std::nullopt);
  EXPECT_EQ(view.text(), "No cluster.");
}

TEST(ClusterFormTest, KeysChangeTheClusterAndAnotherLinkIsSaid) {
  ClusterForm form(DataFiles::embedded());
  form.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&form));
  form.set_choice({.nodes = 8, .devices = 8, .device = "h100-80gb-sxm"});
  EXPECT_EQ(form.choice().nodes, 8);
  QSignalSpy changed(&form, &ClusterForm::changed);
  for (QAbstractSpinBox* const box : form.findChildren<QAbstractSpinBox*>()) {
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Up);
  }
  EXPECT_GT(changed.count(), 0);
  EXPECT_EQ(form.choice().nodes, 9);
  EXPECT_EQ(form.choice().devices, 9);
  EXPECT_TRUE(form.choice().has_other_links());
}

class ViewsInWindow : public testing::Test {
 protected:
  void SetUp() override {
    window_.resize(1400, 900);
    window_.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
    QApplication::setActiveWindow(&window_);
    ASSERT_TRUE(window_.document()->open_now(plan_));
    window_.document()->analyse_now();
  }
  /// What the label of a view says that holds such a text.
  [[nodiscard]] static QString label_with(QWidget* view, const QString& text) {
    for (const QLabel* const label : view->findChildren<QLabel*>()) {
      if (label->text().contains(text)) {
        return label->text();
      }
    }
    return {};
  }

  std::string plan_ = (source_folder() / "examples/gpt-demo-uneven.plan.json").string();
  TemporaryFolder folder_;
  MainWindow window_;
};

TEST_F(ViewsInWindow, MemoryNamesItsPartsAndSortsByTheFullestRank) {
  MemoryView* const memory = window_.memory();
  QAction* const fullest = window_.commands().find("fullest_first");
  EXPECT_EQ(memory->order(), (std::vector<std::size_t>{0, 1}));
  fullest->trigger();
  EXPECT_TRUE(memory->fullest_first());
  const auto& lanes = window_.document()->step()->memory;
  EXPECT_GE(lanes[memory->order()[0]].peak, lanes[memory->order()[1]].peak);
  const QString text = memory->describe_at(QPointF(kGutterWidth + 300, 60));
  for (const TensorClass each : {TensorClass::kParameter, TensorClass::kActivation}) {
    EXPECT_TRUE(text.contains(word_for(each))) << text.toStdString();
  }
  const auto colours = colours_in(memory->viewport(), memory->viewport()->rect());
  EXPECT_TRUE(colours.contains(colour_of(TensorClass::kParameter, memory->palette()).rgb()));
  EXPECT_EQ(memory->lane_at(QPointF(300, 2)), std::nullopt);  // the legend
  fullest->trigger();
}

TEST_F(ViewsInWindow, StatisticsOfARangeCountWhatLiesInIt) {
  const auto actions = window_.document()->actions();
  const QString whole = label_with(window_.statistics(), "Whole step");
  EXPECT_TRUE(
      whole.contains(QString::number(100 * window_.document()->file()->summary->bubble, 'f', 1)))
      << whole.toStdString();
  const int kinds = window_.statistics()->model()->rowCount({});
  RangeSelection range = everything(*actions);
  range.to = actions->length / 100;
  window_.selection()->select_range(range);
  EXPECT_FALSE(label_with(window_.statistics(), "Selection").isEmpty());
  EXPECT_LT(window_.statistics()->model()->rowCount({}), kinds);
  window_.selection()->select_range(std::nullopt);
  EXPECT_EQ(window_.statistics()->model()->rowCount({}), kinds);
}

TEST_F(ViewsInWindow, ComparisonsTellMessagesIdleTimeAndMemory) {
  const std::string other = (folder_.path() / "other.swtrace").string();
  ASSERT_TRUE(save_trace(other, window_.document()->file()->trace));
  ASSERT_TRUE(window_.document()->compare_now(other));
  const QString text = window_.compare()->summary();
  for (const char* const part :
       {"recv-activation", "forward", "Idle: ", "Tensors of the fullest"}) {
    EXPECT_TRUE(text.contains(part)) << part << ": " << text.toStdString();
  }
}

TEST_F(ViewsInWindow, TheNextProgramShowsTheSameRowsTimesAndComparison) {
  const std::string other = (folder_.path() / "other.swtrace").string();
  ASSERT_TRUE(save_trace(other, window_.document()->file()->trace));
  ASSERT_TRUE(window_.document()->compare_now(other));
  TimelineView* const timeline = window_.timeline();
  RowChoices choices = timeline->choices();
  choices.pinned = {RankId(1)};
  choices.hidden = {RankId(0)};
  timeline->set_choices(choices);
  timeline->set_colour_by(ColourBy::kStage);
  timeline->zoom(3);
  const TimeWindow shown = timeline->window_shown();
  window_.close();
  MainWindow next;
  open_stored_session(next);
  ASSERT_TRUE(QTest::qWaitFor(
      [&] { return next.document()->comparison() && !next.document()->is_busy(); }, 60'000))
      << next.message()->text().toStdString();
  EXPECT_EQ(next.document()->other_file()->path, other);
  EXPECT_EQ(next.timeline()->choices().pinned, choices.pinned);
  EXPECT_EQ(next.timeline()->choices().hidden, choices.hidden);
  EXPECT_EQ(next.timeline()->colour_by(), ColourBy::kStage);
  EXPECT_DOUBLE_EQ(next.timeline()->window_shown().start, shown.start);
  EXPECT_DOUBLE_EQ(next.timeline()->window_shown().length, shown.length);
}

TEST_F(ViewsInWindow, StoredViewsOfAnotherFileOrOfNoSenseLeaveTheTimelineWhole) {
  TimelineView* const timeline = window_.timeline();
  const TimeWindow before = timeline->window_shown();
  timeline->show_window({std::nan(""), before.length});
  timeline->show_window({before.start, std::nan("")});
  EXPECT_EQ(timeline->window_shown(), before);
  RowChoices choices = timeline->choices();
  choices.pinned = {RankId(5'000), RankId(-1)};
  choices.height = 2;
  timeline->set_choices(choices);
  for (const LaidOutRow& row : timeline->rows()->rows) {
    EXPECT_GT(row.lanes_end, row.lanes_begin) << row.rank.value();
  }
}

TEST(ChineseTest, WindowMenusAndWordsOfTheFieldAreTranslated) {
  const Translations translations{QLocale(QLocale::Chinese, QLocale::China)};
  MainWindow window;
  window.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&window));
  const auto chinese = [](const QString& text) {
    return std::any_of(
        text.begin(), text.end(), [](QChar c) { return c.script() == QChar::Script_Han; });
  };
  for (const QAction* const menu : window.menuBar()->actions()) {
    EXPECT_TRUE(chinese(menu->text())) << menu->text().toStdString();
  }
  for (const QAction* const command : window.commands().actions()) {
    EXPECT_TRUE(chinese(command->text())) << command->text().toStdString();
  }
  for (int i = 0; i < kActionKindCount; ++i) {
    const QString word = word_for(static_cast<ActionKind>(i));
    EXPECT_TRUE(chinese(word)) << word.toStdString();
  }
  for (int i = 0; i < kBubbleCauseCount; ++i) {
    const QString word = word_for(static_cast<BubbleCause>(i));
    EXPECT_TRUE(chinese(word)) << word.toStdString();
  }
  for (int i = 0; i < kTensorClassCount; ++i) {
    const QString word = word_for(static_cast<TensorClass>(i));
    EXPECT_TRUE(chinese(word)) << word.toStdString();
  }
  ASSERT_TRUE(window.document()->open_now(
      (source_folder() / "examples/gpt-demo-uneven.plan.json").string()));
  QTest::keyClick(window.timeline(), Qt::Key_Right);
  ASSERT_TRUE(window.selection()->action());
  EXPECT_TRUE(chinese(window.statistics()->action_text()))
      << window.statistics()->action_text().toStdString();
}

}  // namespace
}  // namespace stagewright::gui
