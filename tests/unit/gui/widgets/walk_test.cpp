// The walks of docs/guide.md, each action counted: what a user sees who starts for the first time.

#include <algorithm>
#include <functional>

#include <QtCore/QSettings>
#include <QtCore/QTimer>
#include <QtTest/QTest>
#include <QtWidgets/QApplication>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QFileDialog>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QTableView>
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "gui/app/explore_commands.h"
#include "gui/app/main_window.h"
#include "gui/app/run_commands.h"
#include "gui/widgets/compare_panel.h"
#include "gui/widgets/run_panel.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "study/plan_inputs.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"

namespace stagewright::gui {
namespace {

class WalkTest : public testing::Test {
 protected:
  void SetUp() override {
    QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    window_.resize(1400, 900);
    window_.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
    QApplication::setActiveWindow(&window_);
  }
  template <class Widget>
  Widget* child(const char* name) {
    return window_.findChild<Widget*>(QString::fromLatin1(name));
  }
  /// One thing that the user does.
  void act(const std::function<void()>& action) {
    ++actions_;
    action();
    QApplication::processEvents();
  }
  void click(const char* button) { QTest::mouseClick(child<QPushButton>(button), Qt::LeftButton); }
  /// Does something that opens a file dialog, and answers that.
  void answer_dialog(const std::string& path, const std::function<void()>& opens_it) {
    QTimer answers;
    QObject::connect(&answers, &QTimer::timeout, &window_, [&] {
      for (QWidget* const widget : QApplication::topLevelWidgets()) {
        auto* const dialog = qobject_cast<QFileDialog*>(widget);
        if (dialog != nullptr && dialog->isVisible()) {
          answers.stop();
          act([&] {
            auto* const name = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
            name->setText(QString::fromStdString(path));
            QTest::keyClick(name, Qt::Key_Return);
          });
        }
      }
    });
    answers.start(20);
    act(opens_it);
  }

  /// Whoever starts for the first time has no settings.
  static bool forget_settings() {
    QSettings().clear();
    return true;
  }

  TemporaryFolder folder_;
  const bool first_time_ = forget_settings();  // before there is a window
  MainWindow window_;
  int actions_ = 0;
};

TEST_F(WalkTest, FromTheStartToAPlanForLlama70BOn64DevicesInSixActions) {
  const std::string path = (folder_.path() / "llama3-70b.plan.json").string();
  act([&] { click("start_explore"); });
  act([&] {
    auto* const model = child<QComboBox>("model");
    model->setCurrentIndex(model->findText("llama3-70b"));
  });
  act([&] { click("search_button"); });
  PlanSearch* const search = window_.explore()->search();
  ASSERT_TRUE(
      QTest::qWaitFor([&] { return search->state() != PlanSearch::State::kRunning; }, 800'000));
  ASSERT_EQ(search->state(), PlanSearch::State::kDone) << search->error().toStdString();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window_.document()->is_busy(); }, 200'000));
  ASSERT_NE(window_.document()->file(), nullptr);
  answer_dialog(path, [&] { click("save_plan_button"); });
  EXPECT_LE(actions_, 6);
  const auto plan = load_plan(DataFiles::embedded(), path, {}, {});
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_EQ(plan->model.name, "llama3-70b");
  EXPECT_EQ(plan->cluster.device_count(), 64);
  EXPECT_EQ(plan->cluster.types.front().name, "h100-80gb-sxm");
  EXPECT_EQ(plan->plan, window_.document()->file()->plan->plan);
}

/// The step that is open as if it had been measured: one forward took three times as long.
Trace slowed(const OpenedFile& file, TraceEvent& slow) {
  Trace trace = file.trace;
  const auto chosen = std::ranges::find_if(trace.events, [](const TraceEvent& event) {
    return !event.op_index && event.action == ActionKind::kForward && event.rank == RankId(1);
  });
  slow = *chosen;
  chosen->end += 2 * (chosen->end - chosen->start);
  return trace;
}

TEST_F(WalkTest, FromADemoRunToTheWorstMispredictedActionInFourActions) {
  ASSERT_TRUE(window_.document()->open_now(
      (source_folder() / "examples/gpt-demo-uneven.plan.json").string()));
  TraceEvent slow;
  const std::string measured = (folder_.path() / "measured.swtrace").string();
  ASSERT_TRUE(save_trace(measured, slowed(*window_.document()->file(), slow)));
  // Stands for the command, which would take its time.
  ASSERT_TRUE(write_file((folder_.path() / "stagewright").string(),
                         "#!/bin/sh\nwhile [ $# -gt 0 ]; do\n"
                         "  [ \"$1\" = --trace ] && cp '" +
                             measured + "' \"$2\"; shift\ndone\n"));
  std::filesystem::permissions(folder_.path() / "stagewright", std::filesystem::perms::owner_all);
  const QByteArray path = qgetenv("PATH");
  qputenv("PATH", QByteArray::fromStdString(folder_.path().string()) + ':' + path);
  // No data were ever chosen: the first run trains on a text that comes with the program.
  act([&] { QTest::keyClick(&window_, Qt::Key_F5); });
  ASSERT_TRUE(
      QTest::qWaitFor([&] { return !window_.run()->panel()->process()->is_running(); }, 30'000));
  qputenv("PATH", path);
  act([&] { click("run_compare"); });
  ASSERT_TRUE(QTest::qWaitFor([&] { return window_.document()->comparison() != nullptr; }, 30'000))
      << window_.run()->panel()->verdict().toStdString();
  auto* const worst = window_.compare()->findChild<QTableView*>();
  act([&] {
    QTest::mouseClick(worst->viewport(),
                      Qt::LeftButton,
                      {},
                      worst->visualRect(worst->model()->index(0, 0)).center());
  });
  EXPECT_EQ(actions_, 3);  // and one before them that opens the plan
  const auto action = window_.selection()->action();
  ASSERT_TRUE(action);
  const ActionStore& store = *window_.document()->actions();
  EXPECT_EQ(store.lanes[store.lane_of(*action)].rank, slow.rank);
  EXPECT_EQ(store.kind[*action], slow.action);
  EXPECT_EQ(store.micro_batch[*action], slow.micro_batch.value());
  EXPECT_TRUE(window_.timeline()->rect_of_action(*action));
}

}  // namespace
}  // namespace stagewright::gui
