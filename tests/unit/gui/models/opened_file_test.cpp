#include "gui/models/opened_file.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "formats/pytorch_csv.h"
#include "gui/models/schedule_order.h"
#include "planner/lower/lower.h"
#include "planner/schedules/registry.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/gui/broken_files.h"
#include "tests/unit/gui/made_traces.h"

namespace stagewright::gui {
namespace {

class OpenedFileTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) {
    const std::string path = (folder_.path() / name).string();
    EXPECT_TRUE(write_file(path, content));
    return path;
  }
  std::string error_of(const std::string& path) {
    const auto opened = open_file(path, {});
    EXPECT_FALSE(opened);
    return opened ? "" : opened.error().to_string();
  }

  TemporaryFolder folder_;
};

const std::string& demo_plan() {
  static const std::string kPath =
      (source_folder() / "examples/gpt-demo-uneven.plan.json").string();
  return kPath;
}

TEST_F(OpenedFileTest, OpensAPlanAsItsSimulatedStep) {
  const auto opened = open_file(demo_plan(), {});
  ASSERT_TRUE(opened) << opened.error().to_string();
  EXPECT_EQ(opened->kind, FileKind::kPlan);
  EXPECT_EQ(Duration(opened->shown.actions.length), opened->summary->step_time);
  EXPECT_EQ(opened->devices.size(), opened->schedule->ranks.size());
  ASSERT_EQ(opened->shown.memory.size(), opened->schedule->ranks.size());
  EXPECT_FALSE(opened->axes.empty());
}

// On a device whose driver takes memory of its own; a rank's peak is what `simulate` prints.
TEST_F(OpenedFileTest, MemoryOfARankIsThatOfTheSummary) {
  PlanInputs inputs = load_plan(DataFiles::embedded(), demo_plan(), {}, {}).value();
  inputs.cluster = find_cluster(DataFiles::embedded(), "1x2xh100-sxm").value();
  const auto opened = open_plan(DataFiles::embedded(), inputs, "plan", {});
  ASSERT_TRUE(opened) << opened.error().to_string();
  for (const RankSummary& rank : opened->summary->ranks) {
    const MemoryLane& lane = opened->shown.memory.at(rank.rank.index());
    EXPECT_GT(lane.context, Bytes{});
    EXPECT_EQ(lane.peak, rank.device_memory);
    EXPECT_EQ(lane.context + total_of(lane.live[lane.peak_at]), rank.device_memory);
    EXPECT_EQ(lane.limit, opened->plan->cluster.type_of(DeviceId(0)).memory);
  }
}

TEST_F(OpenedFileTest, OpensTracesOfBothForms) {
  const Trace trace = test::pipeline_trace("1f1b", 2, 4);
  for (const auto& [name, content] :
       {std::pair{"a.swtrace", to_binary(trace)}, std::pair{"a.json", to_chrome_json(trace)}}) {
    const auto opened = open_file(write(name, content), {});
    ASSERT_TRUE(opened) << opened.error().to_string();
    EXPECT_EQ(opened->kind, FileKind::kTrace);
    EXPECT_EQ(opened->trace, trace);
    EXPECT_EQ(opened->shown.actions.size(), trace.events.size());
  }
}

TEST_F(OpenedFileTest, OpensOrdersOfOtherProgramsUnderUnitCosts) {
  const ScheduleGenerator generator = find_schedule("1f1b").value();
  const TokenList list =
      token_list(generator.generate({.ranks = 4, .virtual_stages = 1, .micro_batches = 8}).value());
  const auto opened = open_file(write("order.csv", write_pytorch_csv(list)), {});
  ASSERT_TRUE(opened) << opened.error().to_string();
  EXPECT_EQ(opened->kind, FileKind::kTokenList);
  EXPECT_TRUE(opened->unit_costs);
  // (m + p - 1)(F + B) = 11 * 3 units.
  EXPECT_EQ(Duration(opened->shown.actions.length), std::chrono::seconds(33));
}

TEST_F(OpenedFileTest, OpensALoweredSchedule) {
  const DataFiles files = DataFiles::embedded();
  const PlanInputs inputs = load_plan(files, demo_plan(), {}, {}).value();
  const Schedule schedule = lower(inputs.model, inputs.cluster, inputs.plan).value();
  const auto opened = open_file(write("s.json", to_json_text(schedule)), {});
  ASSERT_TRUE(opened) << opened.error().to_string();
  EXPECT_EQ(opened->kind, FileKind::kSchedule);
  EXPECT_EQ(*opened->schedule, schedule);
  EXPECT_EQ(compute_order(schedule).stages, schedule.stages);
}

TEST_F(OpenedFileTest, SaysWhatIsWrongWithWhatItCannotOpen) {
  EXPECT_NE(error_of("/no/such/file.json").find("/no/such/file.json"), std::string::npos);
  EXPECT_NE(error_of(folder_.path().string()).find("is a folder"), std::string::npos);
  EXPECT_NE(error_of(write("empty.json", "")).find("is empty"), std::string::npos);
  EXPECT_NE(error_of(write("picture.png", "\x89PNG\r\n\x1a\n")).find("open a trace"),
            std::string::npos);
  EXPECT_NE(error_of(write("other.json", R"({"name": "someone's", "items": []})")).find("no known"),
            std::string::npos);
  EXPECT_NE(error_of(write("cut.swtrace", "SWTR\x01")).find("cut.swtrace"), std::string::npos);
  EXPECT_NE(error_of(write("cut.json", R"({"traceEvents": [)")).find("cut.json"),
            std::string::npos);
  EXPECT_NE(error_of(write("none.swtrace", to_binary(Trace{}))).find("no actions"),
            std::string::npos);
}

TEST_F(OpenedFileTest, NoBrokenFileEndsTheProgram) {
  for (const auto& [name, content] : test::files_of_every_kind()) {
    ASSERT_TRUE(open_content(content, name, {})) << name;
    for (std::uint32_t seed = 0; seed < 120; ++seed) {
      SCOPED_TRACE(name + ", seed " + std::to_string(seed));
      const auto opened = open_content(test::broken(content, seed), name, {});
      if (opened) {
        EXPECT_GT(opened->shown.actions.size(), 0U);
      } else {
        EXPECT_FALSE(opened.error().message.empty());
      }
    }
  }
}

TEST_F(OpenedFileTest, NeitherDepthNorSizeEndsTheProgram) {
  constexpr std::size_t kDeep = 300'000;
  const std::string deep = R"({"traceEvents": )" + std::string(kDeep, '[');
  EXPECT_FALSE(open_content(deep, "deep", {}));
  EXPECT_FALSE(open_content(deep + std::string(kDeep, ']') + "}", "deep", {}));
  const std::string huge = write("huge.swtrace", "SWTR");
  std::filesystem::resize_file(huge, std::uintmax_t{5} << 30U);  // without a block on the disk
  EXPECT_NE(error_of(huge).find("has 5.0 GiB"), std::string::npos) << error_of(huge);
  EXPECT_NE(error_of("/dev/zero").find("no regular file"), std::string::npos);
}

TEST_F(OpenedFileTest, GivesUpWhenAsked) {
  const auto opened =
      open_file(demo_plan(),
                {.progress = [](std::string_view what) { return what != "Simulating the step"; }});
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("cancelled"), std::string::npos);
}

}  // namespace
}  // namespace stagewright::gui
