// Starting a run of the open plan, and reading what it says.

#include <fstream>

#include <QtCore/QDir>
#include <QtCore/QFile>
#include <QtCore/QFileInfo>
#include <QtGui/QAction>
#include <QtTest/QAbstractItemModelTester>
#include <QtTest/QTest>
#include <QtWidgets/QLabel>
#include <QtWidgets/QPushButton>
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/schedule/schedule.h"
#include "gui/app/edit_commands.h"
#include "gui/app/main_window.h"
#include "gui/app/run_commands.h"
#include "gui/models/metrics_model.h"
#include "gui/models/plan_editor.h"
#include "gui/models/run_folder.h"
#include "gui/widgets/run_panel.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "study/plan_inputs.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/gui/made_traces.h"

namespace stagewright::gui {
namespace {

std::string demo() {
  return (source_folder() / "examples/gpt-demo-uneven.plan.json").string();
}

TEST(MetricsTest, LinesOfARunBecomeRows) {
  MetricsModel model;
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  EXPECT_FALSE(parse_metrics_line("median step 3 ms"));
  EXPECT_FALSE(parse_metrics_line("[1]"));
  const auto first = parse_metrics_line(
      R"({"step":0,"loss":5.5,"gradient_norm":null,"step_time_s":0.25,"tokens_per_s":4096})");
  ASSERT_TRUE(first);
  EXPECT_EQ(*first,
            (StepMetrics{.step = 0, .loss = 5.5, .seconds = 0.25, .tokens_per_second = 4096}));
  model.add(*first);
  model.add({.step = 1, .loss = 5.25, .gradient_norm = 1.5, .seconds = 0.5});
  ASSERT_EQ(model.rowCount({}), 2);
  EXPECT_EQ(model.index(0, MetricsModel::kStep).data().toInt(), 2);  // as the command counts
  EXPECT_EQ(model.index(1, MetricsModel::kNorm).data().toString(), "-");
  EXPECT_EQ(model.index(1, MetricsModel::kTime).data().toString(), "250 ms");
}

/// A command of that name that does as little as the panel needs to see.
class RunTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(window_.document()->open_now(demo())); }
  void write_command(const std::string& script) {
    const auto path = folder_.path() / "stagewright";
    std::ofstream(path) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  RunSetup setup() {
    return {.program = QString::fromStdString((folder_.path() / "stagewright").string()),
            .data = QString::fromStdString(demo()),
            .steps = 2};
  }
  RunProcess* process() { return window_.run()->panel()->process(); }
  bool wait() {
    return QTest::qWaitFor([&] { return !process()->is_running(); }, 30'000);
  }

  TemporaryFolder folder_;
  MainWindow window_;
};

TEST_F(RunTest, StepsComeAsTheCommandWritesThemAndTheTraceIsThere) {
  write_command(
      "echo \"$@\" > \"$(dirname \"$0\")/arguments\"\n"
      "echo '{\"step\":0,\"loss\":2.0,\"step_time_s\":0.1}'\n"
      "echo '{\"step\":1,\"loss\":1.0,\"step_time_s\":0.1}'\n"
      "while [ $# -gt 0 ]; do [ \"$1\" = --trace ] && : > \"$2\"; shift; done\n");
  ASSERT_TRUE(process()->start(*window_.document()->file(), setup()));
  ASSERT_TRUE(wait());
  QTest::qWait(0);
  ASSERT_EQ(process()->steps().size(), 2U);
  EXPECT_EQ(process()->steps()[1].loss, 1.0);
  EXPECT_EQ(window_.run()->panel()->verdict(), "2 step(s) done.");
  auto* const compare = window_.findChild<QPushButton*>("run_compare");
  EXPECT_TRUE(compare->isEnabled());
  const auto change = [](PlanDraft draft) { return with_micro_batches(std::move(draft), 6); };
  ASSERT_TRUE(window_.edit()->editor()->change_now("Six micro-batches", change));
  EXPECT_FALSE(compare->isEnabled());  // it did not predict that run
  EXPECT_FALSE(compare->toolTip().isEmpty());
  const auto arguments = read_file(folder_.path() / "arguments");
  ASSERT_TRUE(arguments);
  EXPECT_NE(arguments->find("--steps 2 "), std::string::npos) << *arguments;
  EXPECT_EQ(arguments->find("--cluster"), std::string::npos) << *arguments;
}

constexpr const char* kLeavesATrace =
    "echo \"$@\" > \"$(dirname \"$0\")/arguments\"\n"
    "while [ $# -gt 0 ]; do [ \"$1\" = --trace ] && : > \"$2\"; shift; done\n";

TEST_F(RunTest, ItsTraceStaysWhenTheProgramEndsAndIsAmongTheRecentFiles) {
  write_command(kLeavesATrace);
  QString trace;
  {
    MainWindow other;
    ASSERT_TRUE(other.document()->open_now(demo()));
    RunProcess* const its = other.run()->panel()->process();
    ASSERT_TRUE(its->start(*other.document()->file(), setup()));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !its->is_running(); }, 30'000));
    QTest::qWait(0);
    trace = its->trace_path();
  }
  EXPECT_TRUE(trace.startsWith(runs_folder()));
  EXPECT_TRUE(trace.endsWith("/run of gpt-demo-uneven.swtrace")) << trace.toStdString();
  EXPECT_TRUE(QFile::exists(trace));
  ASSERT_FALSE(window_.recent().isEmpty());
  EXPECT_EQ(window_.recent().front(), trace);
  for (int i = 0; i < kKeptRuns + 3; ++i) {
    EXPECT_FALSE(make_run_folder().isEmpty());
  }
  EXPECT_EQ(QDir(runs_folder()).entryList(QDir::Dirs | QDir::NoDotAndDotDot).size(), kKeptRuns);
  EXPECT_FALSE(QFile::exists(trace)) << "the oldest go first";
  EXPECT_FALSE(window_.recent().contains(trace));
}

TEST_F(RunTest, OnlyFoldersThatItMadeAreRemovedAndNeverTheNewest) {
  const QDir runs(runs_folder());
  ASSERT_TRUE(runs.mkpath("0-renamed"));
  ASSERT_TRUE(runs.mkpath("9999-01-01-000000-000-abcdef"));
  const QString elsewhere = QString::fromStdString((folder_.path() / "elsewhere").string());
  ASSERT_TRUE(QDir().mkpath(elsewhere + "/kept"));
  ASSERT_TRUE(QFile::link(elsewhere, runs.filePath("0001-01-01-000000-000-abcdef")));
  for (int i = 0; i < kKeptRuns + 3; ++i) {
    EXPECT_TRUE(QFile::exists(make_run_folder()));
  }
  EXPECT_TRUE(runs.exists("0-renamed"));
  EXPECT_TRUE(QFile::exists(elsewhere + "/kept"));
  for (int i = 0; i < kKeptRuns; ++i) {  // as where the clock was set back
    ASSERT_TRUE(runs.mkpath(QStringLiteral("9999-02-01-0000%1-000-abcdef").arg(10 + i)));
  }
  EXPECT_TRUE(QFile::exists(make_run_folder()));
  EXPECT_TRUE(QDir(runs_folder()).removeRecursively());
  EXPECT_TRUE(QFile::exists(elsewhere + "/kept"));
  EXPECT_LT(run_trace_name(QString(245, QChar(0x7ec3)) + ".plan.json").toUtf8().size(), 256);
}

TEST_F(RunTest, WithoutDataItTrainsOnASampleAndTimesCanBeVirtual) {
  write_command(kLeavesATrace);
  RunSetup sample = setup();
  sample.data.clear();
  sample.virtual_clock = true;
  ASSERT_TRUE(process()->start(*window_.document()->file(), sample));
  ASSERT_TRUE(wait());
  const auto arguments = read_file(folder_.path() / "arguments");
  ASSERT_TRUE(arguments);
  EXPECT_NE(arguments->find("--clock virtual"), std::string::npos) << *arguments;
  const QFileInfo text(QFileInfo(process()->trace_path()).dir().filePath("sample.md"));
  EXPECT_NE(arguments->find("--data " + text.filePath().toStdString()), std::string::npos)
      << *arguments;
  EXPECT_GT(text.size(), 4000);
}

TEST_F(RunTest, NothingStopsWhereNothingRuns) {
  const QString before = window_.run()->panel()->verdict();
  window_.commands().find("stop_run")->trigger();
  EXPECT_EQ(window_.run()->panel()->verdict(), before);
}

TEST_F(RunTest, WhatTheCommandSaysOfAFailureIsShown) {
  write_command("echo 'error: data.txt: is empty' >&2\nexit 2\n");
  ASSERT_TRUE(process()->start(*window_.document()->file(), setup()));
  ASSERT_TRUE(wait());
  QTest::qWait(0);
  EXPECT_EQ(window_.run()->panel()->verdict(), "error: data.txt: is empty");
}

TEST_F(RunTest, ARunIsStopped) {
  write_command("trap 'echo stopped >&2; exit 5' TERM\nwhile :; do :; done\n");
  ASSERT_TRUE(process()->start(*window_.document()->file(), setup()));
  ASSERT_TRUE(QTest::qWaitFor([&] { return process()->is_running(); }));
  process()->stop();
  process()->stop();
  ASSERT_TRUE(wait());
}

TEST_F(RunTest, LanesOfAStepAreThereWhileTheRunGoes) {
  Trace step = test::pipeline_trace("1f1b", 2, 4);
  step.made_by["step"] = "6";
  const std::string path = (folder_.path() / "step.swtrace").string();
  ASSERT_TRUE(save_trace(path, step));
  write_command("while [ \"$1\" != --live-trace ]; do shift; done\ncp '" + path +
                "' \"$2.tmp\" && mv \"$2.tmp\" \"$2\"\n"
                "trap 'exit 5' TERM\nwhile :; do :; done\n");
  ASSERT_TRUE(process()->start(*window_.document()->file(), setup()));
  TimelineView* const lanes = window_.run()->panel()->lanes();
  const OpenedFile* const plan = window_.document()->file();
  ASSERT_TRUE(QTest::qWaitFor([&] { return lanes->rows() != nullptr; }, 30'000));
  EXPECT_TRUE(process()->is_running());
  EXPECT_EQ(lanes->document()->actions()->size(), step.events.size());
  EXPECT_GE(lanes->window_shown().end(), static_cast<double>(lanes->document()->actions()->length));
  bool told = false;
  for (const QLabel* const label : window_.run()->panel()->findChildren<QLabel*>()) {
    told = told || label->text().startsWith("Step 7: ");
  }
  EXPECT_TRUE(told);
  EXPECT_EQ(window_.document()->file(), plan);  // it stays open
  process()->stop();
  ASSERT_TRUE(wait());
  EXPECT_NE(lanes->rows(), nullptr);
}

TEST_F(RunTest, ARunOfTheCommandShowsItsStepsAndLeavesItsTrace) {
  const RunSetup real{.program = QStringLiteral(STAGEWRIGHT_PROGRAM),
                      .data = QString::fromStdString((source_folder() / "README.md").string()),
                      .steps = 2};
  ASSERT_TRUE(process()->start(*window_.document()->file(), real));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !process()->is_running(); }, 300'000));
  QTest::qWait(0);
  EXPECT_EQ(process()->steps().size(), 2U) << window_.run()->panel()->verdict().toStdString();
  Document* const lanes = window_.run()->panel()->lanes()->document();
  ASSERT_TRUE(
      QTest::qWaitFor([&] { return !lanes->is_busy() && lanes->file() != nullptr; }, 30'000));
  EXPECT_EQ(lanes->file()->trace.steps, 2);
  EXPECT_EQ(lanes->file()->trace.schedule_hash,
            schedule_hash(*window_.document()->file()->schedule));
}

TEST_F(RunTest, DataThatDoNotExistAreNamed) {
  window_.run()->panel()->set_data("/nowhere/data.txt");
  window_.run()->panel()->start();
  EXPECT_TRUE(window_.run()->panel()->verdict().contains("/nowhere/data.txt"));
  EXPECT_FALSE(process()->is_running());
}

}  // namespace
}  // namespace stagewright::gui
