// A what-if change of GPT-3 175B on 16 pipeline ranks with 128 micro-batches: from the change to
// the picture of the new timeline, by the CPU time of the thread that works it out.

#include <memory>

#include <benchmark/benchmark.h>

#include "core/base/data_files.h"
#include "gui/models/plan_draft.h"
#include "gui/models/timeline_image.h"

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
  const auto cost = make_cost(DataFiles::embedded(),
                              draft.inputs.model,
                              draft.inputs.cluster,
                              draft.inputs.plan,
                              "stagewright",
                              std::nullopt)
                        .value();
  std::size_t actions = 0;
  for (auto _ : state) {
    draft.what_if.network_bandwidth = draft.what_if.network_bandwidth == 1 ? 0.5 : 1;
    auto file =
        std::make_shared<const OpenedFile>(simulate_draft(*cost, draft, "gpt3", {}).value());
    const std::shared_ptr<const ActionStore> store(file, &file->shown.actions);
    actions = store->size();
    constexpr double kRowHeight = 6;
    const TimelineColours colours;
    const TimelinePicture picture{.actions = store,
                                  .paint = std::make_shared<const std::vector<std::uint8_t>>(
                                      paint_actions(ColourBy::kAction, *store, nullptr)),
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

}  // namespace
}  // namespace stagewright::gui

BENCHMARK_MAIN();
