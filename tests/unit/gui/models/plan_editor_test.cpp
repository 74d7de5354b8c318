#include "gui/models/plan_editor.h"

#include <algorithm>
#include <fstream>

#include <QtTest/QSignalSpy>
#include <QtTest/QTest>
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "gui/models/stage_times.h"
#include "planner/lower/lower.h"
#include "runtime/trainer/trainer.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"

namespace stagewright::gui {
namespace {

/// The demonstration: 6 layers on two stages, 4 micro-batches under 1F1B.
class PlanEditorTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto opened =
        document_.open_now((source_folder() / "examples/gpt-demo-uneven.plan.json").string());
    ASSERT_TRUE(opened) << opened.error().to_string();
    ASSERT_NE(editor_.draft(), nullptr);
  }
  void change(const PlanEditor::Change& change) {
    const auto changed = editor_.change_now("change", change);
    ASSERT_TRUE(changed) << changed.error().to_string();
  }
  std::string refusal(const PlanEditor::Change& change) {
    const auto changed = editor_.change_now("change", change);
    EXPECT_FALSE(changed);
    return changed ? "" : changed.error().to_string();
  }
  bool wait() {
    return QTest::qWaitFor([&] { return !editor_.is_busy(); }, 30'000);
  }
  std::vector<std::int32_t> layers() const {
    std::vector<std::int32_t> each;
    for (const StagePlan& stage : editor_.draft()->inputs.plan.stages) {
      each.push_back(stage.layers);
    }
    return each;
  }
  const Schedule& schedule() const { return *document_.file()->schedule; }
  /// What a rank computes, in order: "F0 F1 B0 ...".
  std::string order(std::int32_t rank) const {
    std::string text;
    for (const Action& action : schedule().programs[static_cast<std::size_t>(rank)].actions) {
      if (is_compute(action.kind)) {
        text += (text.empty() ? "" : " ") + to_string(action).substr(1);
      }
    }
    return text;
  }
  std::int32_t place(std::int32_t rank, const std::string& name) const {
    const auto& actions = schedule().programs[static_cast<std::size_t>(rank)].actions;
    const auto found = std::ranges::find_if(
        actions, [&](const Action& action) { return to_string(action) == name; });
    return static_cast<std::int32_t>(found - actions.begin());
  }
  PlanEditor::Change move_by(std::int32_t rank, const std::string& name, std::int32_t by) const {
    return [this, rank, name, by](PlanDraft draft) {
      return move_action_by(std::move(draft), schedule(), RankId(rank), place(rank, name), by);
    };
  }

  TemporaryFolder folder_;
  Document document_;
  PlanEditor editor_{&document_};
};

TEST_F(PlanEditorTest, LayersMoveBetweenStagesAndTheStepIsSimulatedAgain) {
  EXPECT_EQ(layers(), (std::vector<std::int32_t>{4, 2}));
  const Duration before = editor_.shown_summary()->step_time;
  change([](PlanDraft draft) { return move_layers(std::move(draft), 0, 1, 1); });
  EXPECT_EQ(layers(), (std::vector<std::int32_t>{3, 3}));
  EXPECT_EQ(editor_.draft()->inputs.plan.stages[1].first_layer, 3);
  EXPECT_NE(editor_.shown_summary()->step_time, before);
  EXPECT_EQ(stage_times(*document_.file())[1].layers, 3);
}

TEST_F(PlanEditorTest, AStageKeepsALayerAndSaysSo) {
  const std::string why =
      refusal([](PlanDraft draft) { return move_layers(std::move(draft), 1, 0, 2); });
  EXPECT_EQ(why, "stage 1 has 2 layers and must keep one; at most 1 can leave it");
  EXPECT_EQ(layers(), (std::vector<std::int32_t>{4, 2}));
  EXPECT_EQ(editor_.undo_stack()->count(), 0);
}

TEST_F(PlanEditorTest, AnActionMovesAmongThoseOfItsRank) {
  EXPECT_EQ(order(0), "F0 F1 B0 F2 B1 F3 B2 B3");
  change(move_by(0, "0F2", -1));
  EXPECT_EQ(order(0), "F0 F1 F2 B0 B1 F3 B2 B3");
  change([&](PlanDraft draft) {
    return move_action_to(
        std::move(draft), schedule(), RankId(0), place(0, "0F3"), place(0, "0B0"));
  });
  EXPECT_EQ(order(0), "F0 F1 F2 F3 B0 B1 B2 B3");
}

TEST_F(PlanEditorTest, AnOrderThatCannotRunIsRefusedWithTheReason) {
  const std::string why = refusal(move_by(1, "1B0", -1));
  EXPECT_TRUE(why.starts_with("1B0 cannot go there on rank 1: deadlock: ")) << why;
  EXPECT_EQ(refusal(move_by(0, "0F0", -1)), "0F0 is the first that rank 0 computes");
  EXPECT_TRUE(refusal(move_by(0, "0SEND_F0", 1)).find("follows the actions that compute") !=
              std::string::npos);
  EXPECT_EQ(order(0), "F0 F1 B0 F2 B1 F3 B2 B3");
}

TEST_F(PlanEditorTest, UndoAndRedoShowEachVersion) {
  change([](PlanDraft draft) { return move_layers(std::move(draft), 0, 1, 1); });
  change(move_by(0, "0F2", -1));
  const std::string edited = schedule_hash(schedule());
  editor_.undo_stack()->undo();
  ASSERT_TRUE(wait());
  EXPECT_EQ(order(0), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(layers(), (std::vector<std::int32_t>{3, 3}));
  editor_.undo_stack()->undo();
  ASSERT_TRUE(wait());
  EXPECT_EQ(layers(), (std::vector<std::int32_t>{4, 2}));
  editor_.undo_stack()->redo();
  editor_.undo_stack()->redo();
  ASSERT_TRUE(wait());
  EXPECT_EQ(schedule_hash(schedule()), edited);
}

TEST_F(PlanEditorTest, ChangesThatFollowFastAreAllMadeAndOnlyTheLastIsShown) {
  QSignalSpy shown(&document_, &Document::changed);
  const auto network = [](double factor) {
    return [factor](PlanDraft draft) -> Result<PlanDraft> {
      draft.what_if.node_bandwidth = factor;
      return draft;
    };
  };
  editor_.change(
      "layers", [](PlanDraft draft) { return move_layers(std::move(draft), 0, 1, 1); }, 1);
  editor_.change("network", network(0.5), 7);
  editor_.change("network", network(0.25), 7);
  ASSERT_TRUE(wait());
  EXPECT_EQ(layers(), (std::vector<std::int32_t>{3, 3}));
  EXPECT_EQ(editor_.draft()->what_if.node_bandwidth, 0.25);
  EXPECT_EQ(shown.count(), 1);
}

TEST_F(PlanEditorTest, AChangeThatFailsLateLeavesTheOneBeforeIt) {
  QSignalSpy refused(&editor_, &PlanEditor::refused);
  editor_.change("layers", [](PlanDraft draft) { return move_layers(std::move(draft), 0, 1, 1); });
  // Two stages a rank are more than 1F1B has: only lowering knows.
  editor_.change("virtual", [](PlanDraft draft) { return with_virtual_stages(draft, 2); });
  ASSERT_TRUE(wait());
  ASSERT_EQ(refused.count(), 1);
  EXPECT_EQ(layers(), (std::vector<std::int32_t>{3, 3}));
}

TEST_F(PlanEditorTest, ASlowerNetworkAndSmallerDevicesCost) {
  const Duration before = editor_.shown_summary()->step_time;
  change([](PlanDraft draft) -> Result<PlanDraft> {
    draft.what_if.node_bandwidth = 0.01;
    draft.what_if.memory = 0.001;
    return draft;
  });
  EXPECT_GT(editor_.shown_summary()->step_time, before);
  EXPECT_FALSE(editor_.shown_summary()->fits);
}

TEST_F(PlanEditorTest, AnotherScheduleBringsItsStages) {
  change([](PlanDraft draft) { return with_schedule(std::move(draft), "gpipe"); });
  EXPECT_EQ(order(0), "F0 F1 F2 F3 B0 B1 B2 B3");
  change([](PlanDraft draft) { return with_schedule(std::move(draft), "interleaved"); });
  EXPECT_EQ(layers().size(), 4U);
}

TEST_F(PlanEditorTest, WhatRunsIsTheEditedScheduleInTheEditedOrder) {
  change([](PlanDraft draft) { return move_layers(std::move(draft), 0, 1, 1); });
  change(move_by(0, "0F2", -1));
  const std::string path = (folder_.path() / "edited.schedule.json").string();
  ASSERT_TRUE(editor_.save_schedule(path));
  const auto text = read_file(path);
  ASSERT_TRUE(text);
  const auto saved = parse_schedule(*text, path);
  ASSERT_TRUE(saved) << saved.error().to_string();
  EXPECT_EQ(*saved, schedule());

  std::ofstream data(folder_.path() / "data.txt");
  for (int i = 0; i < 4000; ++i) {
    data << "the stage is wrought by hand and by number " << i << '\n';
  }
  data.close();
  RunOptions options{.steps = 2};
  options.data = folder_.path() / "data.txt";
  const auto report = run(*saved, options);
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->trace.schedule_hash, schedule_hash(schedule()));
  std::vector<const TraceEvent*> computed;
  for (const TraceEvent& event : report->trace.events) {
    if (event.rank == RankId(0) && event.step == 1 && !event.op_index && is_compute(event.action)) {
      computed.push_back(&event);
    }
  }
  std::ranges::sort(computed, {}, &TraceEvent::start);
  std::string executed;
  for (const TraceEvent* event : computed) {
    executed += executed.empty() ? "" : " ";
    executed += event->action == ActionKind::kForward ? "F" : "B";
    executed += std::to_string(event->micro_batch.value());
  }
  EXPECT_EQ(executed, "F0 F1 F2 B0 B1 F3 B2 B3");
}

}  // namespace
}  // namespace stagewright::gui
