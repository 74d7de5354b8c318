// Changing a plan in the window, by keyboard and mouse.

#include <QtCore/QDir>
#include <QtCore/QFile>
#include <QtCore/QStandardPaths>
#include <QtCore/QTimer>
#include <QtGui/QAction>
#include <QtTest/QTest>
#include <QtWidgets/QAbstractButton>
#include <QtWidgets/QApplication>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QDockWidget>
#include <QtWidgets/QDoubleSpinBox>
#include <QtWidgets/QFileDialog>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QMessageBox>
#include <QtWidgets/QStatusBar>
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "gui/app/autosave.h"
#include "gui/app/edit_commands.h"
#include "gui/app/main_window.h"
#include "gui/models/plan_editor.h"
#include "gui/widgets/message_bar.h"
#include "gui/widgets/plan_controls.h"
#include "gui/widgets/stage_balance.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "study/plan_inputs.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"

namespace stagewright::gui {
namespace {

class EditTest : public testing::Test {
 protected:
  void SetUp() override {
    window_.resize(1200, 800);
    window_.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
    ASSERT_TRUE(window_.document()->open_now(
        (source_folder() / "examples/gpt-demo-uneven.plan.json").string()));
    for (const char* const dock : {"dock_plan", "dock_stages"}) {
      window_.findChild<QDockWidget*>(QString::fromLatin1(dock))->show();
    }
    QApplication::setActiveWindow(&window_);
    QApplication::processEvents();
  }
  bool wait() {
    return QTest::qWaitFor([&] { return !editor()->is_busy(); }, 30'000);
  }
  PlanEditor* editor() { return window_.edit()->editor(); }
  StageBalance* balance() { return window_.edit()->balance(); }
  std::int32_t layers(std::size_t stage) {
    return editor()->draft()->inputs.plan.stages[stage].layers;
  }
  /// The action that stands at a place among those that a rank computes.
  ActionIndex computed(std::int32_t rank, std::size_t place) {
    const ActionStore& store = *window_.document()->actions();
    return store.lanes_of(RankId(rank)).front().begin + place;
  }
  std::string name(std::int32_t rank, std::size_t place) {
    return short_name(*window_.document()->actions(), computed(rank, place));
  }
  void change_micro_batches(int count) {
    ASSERT_TRUE(editor()->change_now("Micro-batches", [count](PlanDraft draft) {
      return with_micro_batches(std::move(draft), count);
    }));
  }
  /// Does something, answers with that button when asked about changes, and with that path when
  /// asked where to save.  Returns how often it was asked about changes.
  static int answer(QMessageBox::StandardButton button,
                    const std::string& path,
                    const std::function<void()>& action) {
    int asked = 0;
    QTimer answers;
    QObject::connect(&answers, &QTimer::timeout, &answers, [&] {
      QWidget* const modal = QApplication::activeModalWidget();
      if (auto* const question = qobject_cast<QMessageBox*>(modal)) {
        ++asked;
        question->button(button)->click();
      } else if (auto* const dialog = qobject_cast<QFileDialog*>(modal)) {
        auto* const name = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
        name->setText(QString::fromStdString(path));
        QTest::keyClick(name, Qt::Key_Return);
      }
    });
    answers.start(20);
    action();
    return asked;
  }
  int answer(QMessageBox::StandardButton button, const std::function<void()>& action) {
    return answer(button, {}, action);
  }

  /// Where the program keeps copies for when it ends unexpectedly.
  static QString kept(const char* name) {
    return QDir(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation))
        .filePath(QString::fromLatin1(name));
  }

  TemporaryFolder folder_;
  MainWindow window_;
};

TEST_F(EditTest, ABlockDraggedOntoAnotherStageTakesItsLayersAlong) {
  QTest::mousePress(
      balance()->viewport(), Qt::LeftButton, {}, balance()->block_rect(0, 3).center().toPoint());
  QTest::mouseMove(balance()->viewport(), balance()->block_rect(1, 0).center().toPoint());
  QTest::mouseRelease(
      balance()->viewport(), Qt::LeftButton, {}, balance()->block_rect(1, 0).center().toPoint());
  ASSERT_TRUE(wait());
  EXPECT_EQ(layers(0), 3);
  EXPECT_EQ(layers(1), 3);
  EXPECT_TRUE(window_.isWindowModified());
  EXPECT_TRUE(balance()->describe(1).startsWith("stage 1: 3 layer"))
      << balance()->describe(1).toStdString();
}

TEST_F(EditTest, KeysHandALayerOnAndUndoTakesItBack) {
  balance()->setFocus();
  QTest::keyClick(balance(), Qt::Key_Down);
  EXPECT_EQ(balance()->current(), 1);
  QTest::keyClick(balance(), Qt::Key_Up, Qt::AltModifier);
  ASSERT_TRUE(wait());
  EXPECT_EQ(layers(0), 5);
  QTest::keyClick(balance(), Qt::Key_Up, Qt::AltModifier);
  ASSERT_TRUE(wait());
  EXPECT_EQ(layers(0), 5);
  EXPECT_TRUE(window_.message()->text().contains("stage 1 has 1 layer and must keep one"))
      << window_.message()->text().toStdString();
  QTest::keyClick(&window_, Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(wait());
  EXPECT_EQ(layers(0), 4);
  EXPECT_FALSE(window_.isWindowModified());
}

TEST_F(EditTest, AnActionMovesByKeysAndStaysSelected) {
  ASSERT_EQ(name(0, 3), "F2");
  window_.selection()->select(computed(0, 3));
  window_.timeline()->setFocus();
  const TimeWindow view{10, 1e6};
  window_.timeline()->show_window(view);
  QTest::keyClick(window_.timeline(), Qt::Key_Left, Qt::AltModifier | Qt::ShiftModifier);
  ASSERT_TRUE(wait());
  EXPECT_EQ(name(0, 2), "F2");
  ASSERT_TRUE(window_.selection()->action());
  EXPECT_EQ(*window_.selection()->action(), computed(0, 2));
  EXPECT_EQ(window_.timeline()->window_shown().start, view.start);
  EXPECT_TRUE(window_.edit()->controls()->verdict().contains("moved by hand"));
}

TEST_F(EditTest, AnActionDraggedWithControlGoesWhereItIsDropped) {
  QWidget* const area = window_.timeline()->viewport();
  const auto centre = [&](std::size_t place) {
    return window_.timeline()->rect_of_action(computed(0, place)).value().center().toPoint();
  };
  ASSERT_EQ(name(0, 3), "F2");
  const QPoint from = centre(3);
  const QPoint to = centre(2);
  QTest::mousePress(area, Qt::LeftButton, Qt::ControlModifier, from);
  QTest::mouseMove(area, to);
  QTest::mouseRelease(area, Qt::LeftButton, Qt::ControlModifier, to);
  ASSERT_TRUE(wait());
  EXPECT_EQ(name(0, 2), "F2");
  EXPECT_EQ(name(0, 3), "B0");
}

TEST_F(EditTest, AnOrderThatCannotRunSaysWhy) {
  ASSERT_EQ(name(1, 1), "B0");
  window_.selection()->select(computed(1, 1));
  window_.timeline()->setFocus();
  QTest::keyClick(window_.timeline(), Qt::Key_Left, Qt::AltModifier | Qt::ShiftModifier);
  ASSERT_TRUE(wait());
  EXPECT_EQ(name(1, 1), "B0");
  EXPECT_TRUE(window_.message()->text().contains("cannot go there"))
      << window_.message()->text().toStdString();
  EXPECT_TRUE(window_.edit()->controls()->refusal().contains("deadlock"));
}

TEST_F(EditTest, ControlsChangeTheScheduleAndTheNetwork) {
  auto* const controls = window_.edit()->controls();
  auto* const schedule = controls->findChild<QComboBox*>("schedule");
  schedule->setFocus();
  QTest::keyClicks(schedule, "gpipe");
  emit schedule->activated(schedule->findText("gpipe"));
  ASSERT_TRUE(wait());
  EXPECT_EQ(editor()->draft()->inputs.plan.schedule, "gpipe");
  EXPECT_EQ(name(0, 3), "F3");
  auto* const rate = controls->findChild<QDoubleSpinBox*>("what_if_0");
  const Duration before = editor()->shown_summary()->step_time;
  rate->setFocus();
  rate->selectAll();
  QTest::keyClicks(rate, "0.01");
  QTest::keyClick(rate, Qt::Key_Return);
  ASSERT_TRUE(wait());
  EXPECT_EQ(editor()->draft()->what_if.node_bandwidth, 0.01);
  EXPECT_GT(editor()->shown_summary()->step_time, before);
  EXPECT_TRUE(controls->verdict().contains("a step (+"));
}

TEST_F(EditTest, AShorterStepOfFewerTokensIsNoGain) {
  change_micro_batches(2);
  const QString verdict = window_.edit()->controls()->verdict();
  EXPECT_TRUE(verdict.contains("a step (-")) << verdict.toStdString();
  EXPECT_TRUE(verdict.contains("tokens/s (-")) << verdict.toStdString();
}

TEST_F(EditTest, ChangesOutliveAProgramThatEndsUnexpectedly) {
  auto* const autosave = window_.autosave();
  autosave->save();
  EXPECT_FALSE(autosave->recover());  // nothing was changed
  const auto change = [](PlanDraft draft) { return with_micro_batches(std::move(draft), 6); };
  ASSERT_TRUE(editor()->change_now("Six micro-batches", change));
  autosave->save();
  window_.document()->close();
  ASSERT_TRUE(autosave->recover());
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window_.document()->is_busy(); }, 30'000));
  ASSERT_NE(editor()->draft(), nullptr) << window_.message()->text().toStdString();
  EXPECT_EQ(editor()->draft()->inputs.plan.micro_batches, 6);
  EXPECT_TRUE(window_.message()->text().contains("open again"));
  EXPECT_TRUE(window_.isWindowModified());                 // no file of the user's has them
  EXPECT_TRUE(QFile::exists(kept("autosave.plan.json")));  // it may end at once again
  EXPECT_EQ(answer(QMessageBox::Discard, [&] { window_.close(); }), 1);
  EXPECT_FALSE(autosave->recover());  // it was closed as it should
}

TEST_F(EditTest, MovedActionsOutliveARecoveryAndTheEndOfThatProgram) {
  window_.selection()->select(computed(0, 3));
  window_.timeline()->setFocus();
  QTest::keyClick(window_.timeline(), Qt::Key_Left, Qt::AltModifier | Qt::ShiftModifier);
  ASSERT_TRUE(wait());
  window_.autosave()->save();
  window_.document()->close();
  ASSERT_TRUE(window_.restore_session("asked.plan.json"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window_.document()->is_busy(); }, 30'000));
  const QString said = window_.message()->text();
  EXPECT_TRUE(said.contains("open again")) << said.toStdString();
  EXPECT_TRUE(said.contains("recovered.schedule.json")) << said.toStdString();
  EXPECT_TRUE(said.contains("asked.plan.json")) << said.toStdString();
  const std::string plan = (folder_.path() / "kept.plan.json").string();
  answer(QMessageBox::Cancel, plan, [&] { window_.commands().find("save_plan")->trigger(); });
  EXPECT_EQ(answer(QMessageBox::Cancel, [&] { window_.close(); }), 0);
  EXPECT_TRUE(QFile::exists(kept("recovered.schedule.json")));
}

TEST_F(EditTest, ADamagedCopyIsKeptAndNamed) {
  change_micro_batches(6);
  window_.autosave()->save();
  QFile copy(kept("autosave.plan.json"));
  ASSERT_TRUE(copy.resize(copy.size() / 2));
  window_.document()->close();
  ASSERT_TRUE(window_.autosave()->recover());
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window_.document()->is_busy(); }, 30'000));
  const QString said = window_.message()->text();
  EXPECT_FALSE(said.contains("open again")) << said.toStdString();
  EXPECT_TRUE(said.contains("damaged.plan.json")) << said.toStdString();
  EXPECT_TRUE(said.contains("JSON", Qt::CaseInsensitive)) << said.toStdString();
  EXPECT_TRUE(QFile::exists(kept("damaged.plan.json")));
  EXPECT_FALSE(editor()->has_unsaved());
}

TEST_F(EditTest, ClosingAsksWhatBecomesOfChanges) {
  const auto close = [&] { window_.close(); };
  change_micro_batches(6);
  EXPECT_EQ(answer(QMessageBox::Cancel, close), 1);
  EXPECT_TRUE(window_.isVisible());
  EXPECT_EQ(editor()->draft()->inputs.plan.micro_batches, 6);
  window_.autosave()->save();
  EXPECT_EQ(answer(QMessageBox::Cancel, close), 1);
  EXPECT_TRUE(window_.isWindowModified());
  EXPECT_EQ(answer(QMessageBox::Discard, close), 1);
  EXPECT_FALSE(window_.isVisible());
  EXPECT_FALSE(window_.autosave()->recover());  // nothing is left of what was given up
}

TEST_F(EditTest, ClosingSavesWhereTheUserSays) {
  const std::string path = (folder_.path() / "kept.plan.json").string();
  change_micro_batches(6);
  EXPECT_EQ(answer(QMessageBox::Save, path, [&] { window_.close(); }), 1);
  EXPECT_FALSE(window_.isVisible());
  const auto saved = load_plan(DataFiles::embedded(), path, {}, {});
  ASSERT_TRUE(saved) << saved.error().to_string();
  EXPECT_EQ(saved->plan.micro_batches, 6);
}

TEST_F(EditTest, AWindowStaysWhereSavingFails) {
  change_micro_batches(6);
  // A folder where the file should go.
  std::filesystem::create_directory(folder_.path() / "taken.plan.json");
  std::filesystem::create_directory(folder_.path() / "taken.plan.json" / "x");
  EXPECT_FALSE(editor()->save_plan((folder_.path() / "taken.plan.json").string()));
  EXPECT_TRUE(editor()->has_unsaved());
  EXPECT_EQ(answer(QMessageBox::Cancel, [&] { window_.close(); }), 1);
  EXPECT_TRUE(window_.isVisible());
}

TEST_F(EditTest, MovedActionsAreSavedAsASchedule) {
  window_.selection()->select(computed(0, 3));
  window_.timeline()->setFocus();
  QTest::keyClick(window_.timeline(), Qt::Key_Left, Qt::AltModifier | Qt::ShiftModifier);
  ASSERT_TRUE(wait());
  const std::string plan = (folder_.path() / "moved.plan.json").string();
  const std::string schedule = (folder_.path() / "moved.schedule.json").string();
  QAction* const save_plan = window_.commands().find("save_plan");
  EXPECT_EQ(answer(QMessageBox::Cancel, plan, [&] { save_plan->trigger(); }), 0);
  EXPECT_TRUE(std::filesystem::exists(plan));
  EXPECT_TRUE(editor()->has_unsaved());  // a plan does not hold what was moved
  EXPECT_EQ(answer(QMessageBox::Save, schedule, [&] { window_.close(); }), 1);
  EXPECT_TRUE(std::filesystem::exists(schedule));
  EXPECT_FALSE(window_.isVisible());
}

TEST_F(EditTest, WhatIsSavedGetsItsSuffixBeforeItIsAskedWhatMayBeReplaced) {
  QAction* const save_plan = window_.commands().find("save_plan");
  const std::string typed = (folder_.path() / "mine-v1.5").string();
  const std::string plan = typed + ".plan.json";
  EXPECT_EQ(answer(QMessageBox::No, typed, [&] { save_plan->trigger(); }), 0);
  EXPECT_TRUE(std::filesystem::exists(plan));
  EXPECT_FALSE(std::filesystem::exists(typed));
  EXPECT_TRUE(window_.statusBar()->currentMessage().contains("mine-v1.5.plan.json"));
  ASSERT_TRUE(write_file(plan, "kept"));
  EXPECT_EQ(answer(QMessageBox::Yes, typed, [&] { save_plan->trigger(); }), 1);
  EXPECT_NE(read_file(plan).value(), "kept");
  // A picture is known by its name alone.
  const std::string picture = (folder_.path() / "pic").string();
  answer(QMessageBox::No, picture, [&] { window_.commands().find("save_picture")->trigger(); });
  EXPECT_TRUE(std::filesystem::exists(picture + ".png"));
  EXPECT_TRUE(window_.message()->text().isEmpty()) << window_.message()->text().toStdString();
}

TEST_F(EditTest, NothingIsAskedWhereNothingWouldBeLost) {
  change_micro_batches(6);
  editor()->undo_stack()->undo();
  ASSERT_TRUE(wait());
  // What is imagined of the cluster is in no file that could be saved.
  ASSERT_TRUE(editor()->change_now("Network", [](PlanDraft draft) -> Result<PlanDraft> {
    draft.what_if.network_bandwidth = 2;
    return draft;
  }));
  EXPECT_FALSE(window_.isWindowModified());
  EXPECT_EQ(answer(QMessageBox::Cancel, [&] { window_.close(); }), 0);
  EXPECT_FALSE(window_.isVisible());
}

TEST_F(EditTest, AnotherFileAsksBeforeItTakesThePlace) {
  const auto open = [&] {
    window_.open(
        QString::fromStdString((source_folder() / "examples/gpt-demo-uneven.plan.json").string()));
  };
  change_micro_batches(6);
  EXPECT_EQ(answer(QMessageBox::Cancel, open), 1);
  EXPECT_FALSE(window_.document()->is_busy());
  EXPECT_EQ(answer(QMessageBox::Cancel, [&] { window_.commands().find("close")->trigger(); }), 1);
  EXPECT_NE(window_.document()->file(), nullptr);
  EXPECT_EQ(answer(QMessageBox::Discard, open), 1);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window_.document()->is_busy(); }, 30'000));
  EXPECT_EQ(editor()->draft()->inputs.plan.micro_batches, 4);
}

}  // namespace
}  // namespace stagewright::gui
