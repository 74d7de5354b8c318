// A what-if change of GPT-3 175B on 16 pipeline ranks with 128 micro-batches: from the change to
// the picture of the new timeline, by the CPU time of the thread that works it out; and what
// changes cost of which the thread of the window does a part.

#include <algorithm>
#include <memory>

#include <benchmark/benchmark.h>

#include "core/base/data_files.h"
#include "formats/model_file.h"
#include "gui/models/plan_draft.h"
#include "gui/models/setup_check.h"
#include "gui/models/timeline_image.h"
#include "planner/lower/lower.h"

namespace stagewright::gui {
namespace {

constexpr const char* kPlan = R"({
  "version": 1, "model": "gpt3-175b", "cluster": "16x8xa100-80gb-sxm",
  "dp": 1, "tp": 8, "pp": 16, "sequence": 2048, "micro_batch_size": 1, "micro_batches": 128,
  "schedule": "1f1b", "recompute": "selective"})";

PlanDraft gpt3(const std::string& schedule) {
  const DataFiles files = DataFiles::embedded();
  PlanDraft draft{
      .inputs = parse_plan_inputs(files, kPlan, "gpt3").value(), .what_if = {}, .order = {}};
  return with_schedule(std::move(draft), schedule).value();
}

void what_if(benchmark::State& state, const char* schedule) {
  PlanDraft draft = gpt3(schedule);
  DraftCosts costs({});
  std::size_t actions = 0;
  for (auto _ : state) {
    draft.what_if.network_bandwidth = draft.what_if.network_bandwidth == 1 ? 0.5 : 1;
    auto file =
        std::make_shared<const OpenedFile>(simulate_draft(costs, draft, "gpt3", {}).value());
    const std::shared_ptr<const ActionStore> store(file, &file->shown.actions);
    actions = store->size();
    constexpr double kRowHeight = 6;
    const TimelineColours colours;
    const TimelinePicture picture{
        .actions = store,
        .paint = std::make_shared<const ActionPaint>(ColourBy::kAction, store),
        .rows = std::make_shared<const RowLayout>(
            lay_out_rows(*store, file->axes, {.height = kRowHeight})),
        .analysis = nullptr,
        .paints = paints_for(ColourBy::kAction, colours),
        .colours = colours,
        .window = {0, static_cast<double>(store->length)},
        .width = 1400,
        .height = 800};
    benchmark::DoNotOptimize(draw_timeline(picture));
  }
  state.counters["actions"] = static_cast<double>(actions);
}
BENCHMARK_CAPTURE(what_if, one_f_one_b, "1f1b")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(what_if, gpipe, "gpipe")->Unit(benchmark::kMillisecond);

/// What a change needs before it is simulated, the first time.
void price(benchmark::State& state) {
  const PlanDraft draft = gpt3("1f1b");
  for (auto _ : state) {
    DraftCosts costs({});
    benchmark::DoNotOptimize(costs.of(draft.inputs));
  }
}
BENCHMARK(price)->Unit(benchmark::kMillisecond);

/// On the thread of the window: the order without one action, put back elsewhere, and checked.
void move_action(benchmark::State& state) {
  const PlanDraft draft = gpt3("1f1b");
  const Schedule schedule =
      lower(draft.inputs.model, draft.inputs.cluster, draft.inputs.plan).value();
  const auto& actions = schedule.programs.front().actions;
  const auto forward = std::ranges::find_if(actions, [](const Action& action) {
    return action.kind == ActionKind::kForward && action.micro_batch == MicroBatchId(64);
  });
  const auto place = static_cast<std::int32_t>(forward - actions.begin());
  for (auto _ : state) {
    benchmark::DoNotOptimize(move_action_by(draft, schedule, RankId(0), place, -1));
  }
}
BENCHMARK(move_action)->Unit(benchmark::kMillisecond);

/// Of the form that a search is set up in, after each change.
void check_form(benchmark::State& state) {
  const DataFiles files = DataFiles::embedded();
  const PlanSetup setup{.model = "gpt3-175b",
                        .cluster = {.nodes = static_cast<std::int32_t>(state.range(0)),
                                    .devices = 8,
                                    .device = "a100-80gb-sxm"}};
  for (auto _ : state) {
    benchmark::DoNotOptimize(check_setup(files, setup));
  }
}
BENCHMARK(check_form)->ArgName("nodes")->Arg(128)->Arg(16'384)->Unit(benchmark::kMillisecond);

/// On the thread of the window, when a plan of the table is chosen: its model and its cluster.
void name_model_and_cluster(benchmark::State& state) {
  const DataFiles files = DataFiles::embedded();
  const ClusterChoice cluster{
      .nodes = static_cast<std::int32_t>(state.range(0)), .devices = 8, .device = "a100-80gb-sxm"};
  for (auto _ : state) {
    benchmark::DoNotOptimize(find_model(files, "gpt3-175b"));
    benchmark::DoNotOptimize(cluster_of(files, cluster));
  }
}
BENCHMARK(name_model_and_cluster)
    ->ArgName("nodes")
    ->Arg(128)
    ->Arg(16'384)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagewright::gui

BENCHMARK_MAIN();
