// Searching plans in the window, by keyboard and mouse.

#include <QtCore/QTimer>
#include <QtGui/QAction>
#include <QtTest/QTest>
#include <QtWidgets/QAbstractButton>
#include <QtWidgets/QApplication>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QDockWidget>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QMessageBox>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QSpinBox>
#include <QtWidgets/QTableView>
#include <QtWidgets/QTreeView>
#include <gtest/gtest.h>

#include "gui/app/edit_commands.h"
#include "gui/app/explore_commands.h"
#include "gui/app/layout_commands.h"
#include "gui/app/main_window.h"
#include "gui/models/plan_editor.h"
#include "gui/widgets/explore/candidates_panel.h"
#include "gui/widgets/explore/constraint_form.h"
#include "gui/widgets/explore/model_chooser.h"
#include "gui/widgets/explore/pareto_view.h"
#include "gui/widgets/explore/setup_panel.h"
#include "gui/widgets/explore/topology_view.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "planner/search/dimension.h"
#include "tests/support/source_folder.h"

namespace stagewright::gui {
namespace {

class ExploreTest : public testing::Test {
 protected:
  void SetUp() override {
    window_.resize(1400, 900);
    window_.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
    QApplication::setActiveWindow(&window_);
    QTest::keyClick(&window_, Qt::Key_N, Qt::ControlModifier);
    QApplication::processEvents();
  }
  template <class Widget>
  Widget* child(const char* name) {
    return window_.findChild<Widget*>(QString::fromLatin1(name));
  }
  /// Waits until the panel knows what is set up.
  bool checked() {
    return QTest::qWaitFor([&] { return !panel()->is_checking(); }, 30'000);
  }
  void set_small() {
    PlanSetup setup{.model = "gpt2", .cluster = {.nodes = 1, .devices = 4}, .global_batch = 8};
    panel()->set_setup(setup);
  }
  void search() {
    QTest::mouseClick(child<QPushButton>("search_button"), Qt::LeftButton);
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return plans()->state() != PlanSearch::State::kRunning; }, 120'000));
    ASSERT_EQ(plans()->state(), PlanSearch::State::kDone) << plans()->error().toStdString();
    wait_for_timeline();
  }
  void wait_for_timeline() {
    ASSERT_TRUE(QTest::qWaitFor([&] { return !window_.document()->is_busy(); }, 60'000));
  }
  SetupPanel* panel() { return window_.explore()->setup(); }
  PlanSearch* plans() { return window_.explore()->search(); }
  QTableView* table() { return window_.explore()->candidates()->table(); }
  ParetoView* plot() { return window_.explore()->pareto(); }
  Duration shown_time() { return window_.document()->file()->summary->step_time; }
  Duration chosen_time() {
    return plans()
        ->candidates()
        ->rows()[static_cast<std::size_t>(plans()->chosen())]
        .candidate.step_time;
  }

  MainWindow window_;
};

TEST_F(ExploreTest, NeedsNoFile) {
  EXPECT_TRUE(panel()->isVisible());
  EXPECT_TRUE(window_.explore()->candidates()->isVisible());
  EXPECT_TRUE(plot()->isVisible());
  EXPECT_TRUE(window_.explore()->candidates()->verdict().contains("then search"));
}

TEST_F(ExploreTest, EveryLabelWithAKeyLeadsSomewhere) {
  for (const QLabel* const label : window_.findChildren<QLabel*>()) {
    EXPECT_TRUE(!label->text().contains('&') || label->buddy() != nullptr)
        << label->text().toStdString();
  }
}

TEST_F(ExploreTest, ShowsTheModelAndTheCluster) {
  auto* const model = child<QComboBox>("model");
  model->setCurrentIndex(model->findData("llama3-70b"));
  EXPECT_EQ(panel()->setup().model, "llama3-70b");
  ASSERT_TRUE(checked());
  EXPECT_EQ(panel()->model()->layers()->outline()->parameters, 70'553'706'496);
  child<QSpinBox>("nodes")->setValue(16);
  EXPECT_EQ(panel()->setup().cluster.nodes, 16);
  ASSERT_TRUE(checked());
  EXPECT_TRUE(child<TopologyView>("topology")->text().contains("128 device"))
      << child<TopologyView>("topology")->text().toStdString();
}

TEST_F(ExploreTest, OpensAConfigurationOfHuggingFace) {
  panel()->model()->set_name(
      QString::fromStdString((source_folder() / "tests/no-such/config.json").string()));
  ASSERT_TRUE(checked());
  EXPECT_FALSE(panel()->problem().isEmpty());
  EXPECT_FALSE(child<QPushButton>("search_button")->isEnabled());
}

TEST_F(ExploreTest, HasAFieldForEachDimension) {
  for (const Dimension& dimension : dimensions()) {
    const QString name =
        QStringLiteral("constraint_") +
        QString::fromUtf8(dimension.name.data(), static_cast<qsizetype>(dimension.name.size()));
    EXPECT_NE(window_.findChild<QLineEdit*>(name), nullptr) << name.toStdString();
  }
  auto* const tensor = child<QLineEdit>("constraint_tp");
  QTest::keyClicks(tensor, "lots");
  EXPECT_TRUE(panel()->constraints()->problem().contains("--tp"));
  ASSERT_TRUE(checked());
  EXPECT_TRUE(panel()->problem().contains("--tp")) << panel()->problem().toStdString();
  EXPECT_FALSE(child<QPushButton>("search_button")->isEnabled());
  tensor->clear();
  QTest::keyClicks(tensor, "2, 4");
  ASSERT_TRUE(checked());
  EXPECT_TRUE(panel()->problem().isEmpty()) << panel()->problem().toStdString();
  EXPECT_EQ(panel()->setup().constraints.at("tp"), "2,4");
}

TEST_F(ExploreTest, TheBestPlanOpensAndOneSelectionGoesThroughAllViews) {
  set_small();
  search();
  ASSERT_NE(window_.document()->file(), nullptr);
  EXPECT_EQ(shown_time(), chosen_time());
  EXPECT_TRUE(panel()->isVisible());
  EXPECT_EQ(table()->currentIndex().data().toString(), "1");
  // The table chooses ...
  table()->setFocus();
  QTest::keyClick(table(), Qt::Key_Down);
  wait_for_timeline();
  EXPECT_EQ(table()->currentIndex().data().toString(), "2");
  EXPECT_EQ(shown_time(), chosen_time());
  EXPECT_TRUE(table()->hasFocus());
  EXPECT_TRUE(plot()->accessibleDescription().contains("a step"));
  // ... and so does the plot.
  const auto best = plot()->point_of(plans()->candidates()->best());
  ASSERT_TRUE(best);
  QTest::mouseClick(plot(), Qt::LeftButton, {}, best->toPoint());
  wait_for_timeline();
  constexpr double kNear = 3;  // another plan may lie on the same spot
  EXPECT_LT((*plot()->point_of(plans()->chosen()) - *best).manhattanLength(), kNear);
  EXPECT_EQ(table()->currentIndex().row(),
            window_.explore()
                ->candidates()
                ->shown()
                ->mapFromSource(plans()->candidates()->index(plans()->chosen(), 0))
                .row());
  EXPECT_EQ(shown_time(), chosen_time());
  plot()->setFocus();
  const int before = plans()->chosen();
  QTest::keyClick(plot(), Qt::Key_Right);
  wait_for_timeline();
  EXPECT_NE(plans()->chosen(), before);
  EXPECT_EQ(shown_time(), chosen_time());
}

TEST_F(ExploreTest, APlanThatMayNotBeLeftStaysMarked) {
  set_small();
  search();
  const int shown = plans()->chosen();
  ASSERT_TRUE(window_.edit()->editor()->change_now("Micro-batch", [](PlanDraft draft) {
    const std::int32_t count = draft.inputs.plan.micro_batches;
    return with_micro_batches(std::move(draft), 2 * count);
  }));
  const auto click_on_second = [&](QMessageBox::StandardButton button) {
    int asked = 0;
    QTimer answers;
    QObject::connect(&answers, &QTimer::timeout, &answers, [&] {
      if (auto* const box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget())) {
        ++asked;
        box->button(button)->click();
      }
    });
    answers.start(20);
    const QModelIndex second = table()->model()->index(1, 0);
    QTest::mouseClick(
        table()->viewport(), Qt::LeftButton, {}, table()->visualRect(second).center());
    QApplication::processEvents();
    wait_for_timeline();
    return asked;
  };
  EXPECT_EQ(click_on_second(QMessageBox::Cancel), 1);
  EXPECT_EQ(plans()->chosen(), shown);
  EXPECT_EQ(table()->currentIndex().row(), 0);
  EXPECT_TRUE(table()->selectionModel()->isRowSelected(0));
  EXPECT_EQ(click_on_second(QMessageBox::Discard), 1);
  EXPECT_NE(plans()->chosen(), shown);
  EXPECT_EQ(shown_time(), chosen_time());
}

TEST_F(ExploreTest, ARejectedPlanSaysWhyItHasNoPlaceInThePlot) {
  // Much of the space does not fit on devices that are this small for the model.
  panel()->set_setup({.model = "gpt2-xl",
                      .cluster = {.nodes = 1, .devices = 4, .device = "a100-40gb-sxm"},
                      .global_batch = 64});
  search();
  const std::vector<CandidateRow>& rows = plans()->candidates()->rows();
  const auto rejected = std::ranges::find(rows, CandidateState::kRejected, &CandidateRow::state);
  ASSERT_NE(rejected, rows.end());
  const OpenedFile* const before = window_.document()->file();
  plans()->choose(static_cast<int>(rejected - rows.begin()));
  EXPECT_FALSE(plot()->point_of(plans()->chosen()));
  EXPECT_TRUE(plot()->accessibleDescription().contains("No place in this plot"));
  EXPECT_TRUE(plot()->accessibleDescription().contains(QString::fromStdString(rejected->reason)))
      << plot()->accessibleDescription().toStdString();
  EXPECT_FALSE(plot()->grab().isNull());
  EXPECT_EQ(window_.document()->file(), before);  // what is shown stays
}

TEST_F(ExploreTest, RowsAreAsHighAsThereIsRoomForInTheFirstPlan) {
  set_small();
  search();
  QApplication::processEvents();
  const double height = window_.timeline()->choices().height;
  window_.timeline()->fit_rows();
  EXPECT_EQ(window_.timeline()->choices().height, height);
}

TEST_F(ExploreTest, ConstraintsAndFiltersNarrowTheTable) {
  set_small();
  QTest::keyClicks(child<QLineEdit>("constraint_pp"), "2");
  search();
  for (const CandidateRow& row : plans()->candidates()->rows()) {
    if (row.state == CandidateState::kSimulated) {
      EXPECT_EQ(row.candidate.point.pp, 2);
    }
  }
  auto* const filter = child<QLineEdit>("filter");
  const std::string& schedule = plans()->candidates()->rows().back().candidate.plan.schedule;
  QTest::keyClicks(filter, QString::fromStdString("schedule=" + schedule));
  const CandidateFilter& shown = *window_.explore()->candidates()->shown();
  ASSERT_GT(shown.rowCount(), 0);
  EXPECT_LT(shown.rowCount(), plans()->candidates()->rowCount({}));
}

TEST_F(ExploreTest, AButtonStopsWhatItStarted) {
  panel()->set_setup({.model = "gpt3-175b",
                      .cluster = {.nodes = 128, .devices = 8, .device = "a100-80gb-sxm"},
                      .global_batch = 1536});
  auto* const button = child<QPushButton>("search_button");
  QTest::mouseClick(button, Qt::LeftButton);
  EXPECT_EQ(plans()->state(), PlanSearch::State::kRunning);
  EXPECT_TRUE(button->text().contains("top the search"));
  QTest::mouseClick(button, Qt::LeftButton);
  EXPECT_EQ(plans()->state(), PlanSearch::State::kStopped);
  EXPECT_TRUE(window_.explore()->candidates()->verdict().startsWith("Stopped"));
}

TEST_F(ExploreTest, LayoutsCanBeSavedAndComeBack) {
  set_small();
  search();
  QDockWidget* const pareto = child<QDockWidget>("dock_pareto");
  QDockWidget* const causes = child<QDockWidget>("dock_causes");
  window_.layouts()->save("mine");
  EXPECT_TRUE(LayoutCommands::saved().contains("mine"));
  window_.commands().find("layout_analyse")->trigger();
  EXPECT_TRUE(pareto->isHidden());
  EXPECT_FALSE(causes->isHidden());
  window_.layouts()->restore("mine");
  EXPECT_FALSE(pareto->isHidden());
  EXPECT_TRUE(causes->isHidden());
  window_.layouts()->forget("mine");
  EXPECT_FALSE(LayoutCommands::saved().contains("mine"));
}

}  // namespace
}  // namespace stagewright::gui
