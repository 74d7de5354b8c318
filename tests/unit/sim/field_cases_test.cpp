#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "core/cluster/cluster.h"
#include "memory_setups.h"
#include "sim/memory/memory_constants.h"
#include "sim/memory/step_memory.h"
#include "sim/step/step_time.h"

namespace stagewright {
namespace {

/// The 34-billion-parameter case: 512 A100 40 GB, dp 16 x tp 8 x pp 4, 16 micro-batches, about 28
/// GB a device and about 120 samples/s.  What it leaves open is assumed: a GPT of 48 layers of 7680
/// (34.4 billion parameters), one sequence of 2048 a micro-batch, Megatron-Core with flash
/// attention, nothing recomputed.
TrainingSetup case_34b() {
  TrainingSetup setup = setup_with("megatron");
  setup.device = *find_device(DataFiles::embedded(), "a100-40gb-sxm");
  setup.intra_node = setup.device.intra_node;
  setup.inter_node = setup.device.inter_node;
  setup.run = gpt_run(48, 7680, 64);
  setup.run.flash_attention = true;
  setup.run.dp = 16;
  setup.run.tp = 8;
  setup.run.pp = 4;
  setup.run.micro_batch = 1;
  setup.run.micro_batches = 16;
  setup.run.recompute = Recompute::kNone;
  return setup;
}

double samples_per_second(const TrainingSetup& setup) {
  const StepConstants constants = *load_step_constants(DataFiles::embedded());
  return static_cast<double>(setup.run.global_batch()) / step_time(setup, constants).seconds;
}

double gigabytes(const TrainingSetup& setup) {
  const MemoryConstants constants = *load_memory_constants(DataFiles::embedded());
  return static_cast<double>(step_memory(setup, constants).seen_as(MemoryView::kDriver).count()) /
         1e9;
}

// Twice as many stages on the same devices, each replica with half of the micro-batches: the
// pipeline idles for 7 of 15 slots in place of 3 of 19, which costs more than the halved state
// saves.
TEST(FieldCases, ThirtyFourBillionOnFourStagesMeetsBothFiguresAndBeatsEight) {
  const TrainingSetup wide = case_34b();
  EXPECT_NEAR(samples_per_second(wide), 120, 0.15 * 120);
  EXPECT_NEAR(gigabytes(wide), 28, 0.15 * 28);
  TrainingSetup deep = wide;
  deep.run.pp = 8;
  deep.run.dp = 8;
  deep.run.micro_batches = 8;
  // The slots alone: (8 / 15) / (16 / 19) = 0.63.
  EXPECT_LT(samples_per_second(deep), 0.75 * samples_per_second(wide));
  EXPECT_LT(gigabytes(deep), 0.75 * gigabytes(wide));
}

}  // namespace
}  // namespace stagewright
