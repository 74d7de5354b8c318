// Starting a run of the open plan, and reading what it says.

#include <fstream>

#include <QtTest/QAbstractItemModelTester>
#include <QtTest/QTest>
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "gui/app/main_window.h"
#include "gui/app/run_commands.h"
#include "gui/models/metrics_model.h"
#include "gui/widgets/run_panel.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"

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
  EXPECT_EQ(model.index(0, MetricsModel::kStep).data().toInt(), 1);
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
  const auto arguments = read_file(folder_.path() / "arguments");
  ASSERT_TRUE(arguments);
  EXPECT_NE(arguments->find("--steps 2 "), std::string::npos) << *arguments;
  EXPECT_EQ(arguments->find("--cluster"), std::string::npos) << *arguments;
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

TEST_F(RunTest, DataThatDoNotExistAreNamed) {
  window_.run()->panel()->set_data("/nowhere/data.txt");
  window_.run()->panel()->start();
  EXPECT_TRUE(window_.run()->panel()->verdict().contains("/nowhere/data.txt"));
  EXPECT_FALSE(process()->is_running());
}

}  // namespace
}  // namespace stagewright::gui
