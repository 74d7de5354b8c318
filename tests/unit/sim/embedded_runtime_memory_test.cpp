// The closed form against the lists that the executor runs, whose tensor lifetimes are the truth
// for the embedded runtime.  States agree to the byte.  Activations lack what a backward takes for
// a moment (gradients of one layer), a few percent of the whole on models as small as these.

#include <ostream>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "core/cluster/cluster.h"
#include "core/model/transformer.h"
#include "core/training/run_sizes.h"
#include "memory_setups.h"
#include "planner/lower/lower.h"
#include "sim/memory/memory_timeline.h"
#include "sim/memory/step_memory.h"

namespace stagewright {
namespace {

constexpr double kTolerance = 0.025;

struct Layout {
  std::int32_t pp;
  std::int32_t tp;
  bool llama;
  const char* schedule;
  Recompute recompute;
};

void PrintTo(const Layout& layout, std::ostream* out) {
  *out << "pp" << layout.pp << " tp" << layout.tp << (layout.llama ? " llama " : " gpt ")
       << layout.schedule << " recompute " << name_of(layout.recompute);
}

class EmbeddedRuntimeMemory : public testing::TestWithParam<Layout> {};

TrainingRun model_of(const Layout& layout) {
  TrainingRun run = layout.llama ? llama_run(8, 1024, 16, 4, 2816, 32000) : gpt_run(8, 1024, 16);
  run.shape.max_sequence = 2048;
  return run;
}

Plan plan_of(const Layout& layout) {
  Plan plan;
  plan.model = "m";
  plan.cluster = "1x8xa100-80gb";
  plan.sequence = 1024;
  plan.micro_batch_size = 2;
  plan.micro_batches = 8;
  plan.schedule = layout.schedule;
  plan.stages = even_stages(10, layout.pp, 1, layout.tp);
  for (StagePlan& stage : plan.stages) {
    stage.recompute = layout.recompute;
  }
  return plan;
}

Bytes peak(const MemoryTimeline& timeline, TensorClass tensor_class) {
  return timeline.peaks.by_class[static_cast<std::size_t>(tensor_class)];
}

TEST_P(EmbeddedRuntimeMemory, IsWhatTheClosedFormSaysOfTheFrameworkStagewright) {
  const TrainingRun model = model_of(GetParam());
  const auto graph = make_transformer("m", "f", model.shape);
  ASSERT_TRUE(graph.has_value());
  const auto cluster = find_cluster(DataFiles::embedded(), "1x8xa100-80gb");
  ASSERT_TRUE(cluster.has_value());
  const Plan plan = plan_of(GetParam());
  const auto schedule = lower(*graph, *cluster, plan);
  ASSERT_TRUE(schedule.has_value()) << schedule.error().to_string();
  TrainingSetup setup = setup_with("stagewright");
  setup.run = run_of(plan, model.shape);
  for (std::int32_t stage = 0; stage < GetParam().pp; ++stage) {
    SCOPED_TRACE(testing::Message() << "stage " << stage);
    const auto rank = static_cast<std::size_t>(stage * GetParam().tp);
    const MemoryTimeline truth =
        memory_timeline(schedule->programs[schedule->ranks[rank].program.index()]);
    const StageMemory memory = stage_memory(setup, prior_memory_constants(), stage);
    EXPECT_EQ(memory[MemoryTerm::kParameters], peak(truth, TensorClass::kParameter));
    EXPECT_EQ(memory[MemoryTerm::kGradients], peak(truth, TensorClass::kGradient));
    EXPECT_NEAR(memory.states() /
                    (peak(truth, TensorClass::kParameter) + peak(truth, TensorClass::kGradient) +
                     peak(truth, TensorClass::kOptimizer)),
                1,
                1e-5);
    // Workspaces of matrix libraries are no tensors of the list.
    const Bytes predicted = memory.seen_as(MemoryView::kAllocated) - memory[MemoryTerm::kWorkspace];
    EXPECT_NEAR(predicted / truth.peaks.total, 1, kTolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts,
                         EmbeddedRuntimeMemory,
                         testing::Values(Layout{1, 1, false, "1f1b", Recompute::kNone},
                                         Layout{1, 1, true, "1f1b", Recompute::kNone},
                                         Layout{1, 1, true, "1f1b", Recompute::kFull},
                                         Layout{2, 1, false, "1f1b", Recompute::kNone},
                                         Layout{2, 1, true, "1f1b", Recompute::kFull},
                                         Layout{2, 2, false, "1f1b", Recompute::kNone},
                                         Layout{2, 2, true, "1f1b", Recompute::kNone},
                                         Layout{4, 2, true, "gpipe", Recompute::kNone},
                                         Layout{5, 1, true, "1f1b", Recompute::kNone}));

}  // namespace
}  // namespace stagewright
