#include "sim/memory/step_memory.h"

#include <random>

#include <gtest/gtest.h>

#include "memory_setups.h"
#include "sim/memory/stage_parameters.h"

namespace stagewright {
namespace {

constexpr double kGB = 1e9;

double gigabytes(Bytes bytes) {
  return static_cast<double>(bytes.count()) / kGB;
}

StageMemory of(const TrainingSetup& setup) {
  return step_memory(setup, prior_memory_constants());
}

TrainingSetup with(TrainingRun run, std::string_view framework) {
  TrainingSetup setup = setup_with(framework);
  setup.run = std::move(run);
  return setup;
}

// Ten billion parameters in fp32 are 40 GB.  Training needs ten times that: as much again for
// gradients, twice as much for Adam's moments, and the activations of a batch.
TEST(StepMemory, TenBillionParametersInFp32) {
  TrainingRun run = gpt_run(36, 4800, 48);
  run.format = MatrixFormat::kFloat32;
  run.shape.vocabulary = 2048;
  run.micro_batch = 8;
  run.flash_attention = true;
  const StageMemory memory = of(with(run, "megatron-lm"));
  EXPECT_NEAR(gigabytes(memory[MemoryTerm::kParameters]), 40, 0.4);
  EXPECT_EQ(memory[MemoryTerm::kGradients], memory[MemoryTerm::kParameters]);
  EXPECT_EQ(memory[MemoryTerm::kMoments], 2 * memory[MemoryTerm::kParameters]);
  EXPECT_EQ(memory[MemoryTerm::kMasterWeights], Bytes{});
  EXPECT_GT(memory[MemoryTerm::kActivations], 4 * memory[MemoryTerm::kParameters]);
  EXPECT_NEAR(memory.seen_as(MemoryView::kDriver) / memory[MemoryTerm::kParameters], 10, 1.5);
}

// Megatron's documentation of the distributed optimizer: bytes per parameter over d replicas.
TEST(StepMemory, BytesPerParameterAreThoseOfTheDistributedOptimizersPage) {
  struct Row {
    MatrixFormat format;
    std::int32_t zero;
    double bytes;
  };
  for (const Row& row : {Row{MatrixFormat::kBFloat16, 0, 18},
                         Row{MatrixFormat::kBFloat16, 1, 6 + 12.0 / 8},
                         Row{MatrixFormat::kFloat16, 0, 20},
                         Row{MatrixFormat::kFloat16, 1, 4 + 16.0 / 8},
                         Row{MatrixFormat::kFloat32, 0, 16},
                         Row{MatrixFormat::kFloat32, 1, 8 + 8.0 / 8}}) {
    TrainingRun run = llama_run(32, 4096, 32, 32, 11008, 32000);
    run.dp = 8;
    run.format = row.format;
    run.zero_stage = row.zero;
    const TrainingSetup setup = with(run, "megatron");
    const double parameters = stage_parameters(run, setup.framework, 0).dense;
    EXPECT_NEAR(
        static_cast<double>(of(setup).states().count()) / parameters, row.bytes, 1e-6 * row.bytes);
  }
}

// NVIDIA/Megatron-LM issue 606: Llama-2-7B on 40 GB cards, sequence 64.
TEST(StepMemory, SevenBillionParametersDoNotFitFortyGigabytesWhateverTheSequence) {
  TrainingRun run = llama_run(32, 4096, 32, 32, 11008, 32000);
  run.sequence = 64;
  run.dp = 8;
  TrainingSetup setup = with(run, "megatron");
  setup.device.memory = Bytes(39'500) * (std::int64_t{1} << 20);
  StageMemory memory = of(setup);
  EXPECT_NEAR(gigabytes(memory.states()), 121.3, 1.3);
  EXPECT_FALSE(fits(memory, setup.device));
  EXPECT_EQ(memory.dominant(), MemoryTerm::kMoments);
  setup.run.zero_stage = 1;
  memory = of(setup);
  EXPECT_NEAR(gigabytes(memory.states()), 50.5, 0.6);
  EXPECT_FALSE(fits(memory, setup.device));
  setup.run.tp = 2;
  setup.run.dp = 4;
  EXPECT_TRUE(fits(of(setup), setup.device));
}

// GPT-3 175B with dp 8, tp 8, pp 4 on 256 devices of 80 GB: 5.5 billion parameters a device are
// 98 GB of state, which only a divided optimizer makes fit.
TEST(StepMemory, Gpt3On256DevicesNeedsADividedOptimizer) {
  TrainingRun run = gpt_run(96, 12288, 96);
  run.dp = 8;
  run.tp = 8;
  run.pp = 4;
  run.micro_batches = 192;
  run.recompute = Recompute::kFull;
  TrainingSetup setup = with(run, "megatron-lm");
  StageMemory memory = of(setup);
  EXPECT_NEAR(gigabytes(memory.states()), 100, 2);
  EXPECT_FALSE(fits(memory, setup.device));
  setup.run.zero_stage = 1;
  memory = of(setup);
  EXPECT_NEAR(gigabytes(memory.states()), 100 * 7.5 / 18, 1);
  EXPECT_TRUE(fits(memory, setup.device));
}

// hiyouga/LlamaFactory issue 1158: Baichuan2-13B with ZeRO on A800 80 GB.
TEST(StepMemory, ZeroTwoOnFourDevicesIsNotEnoughForThirteenBillion) {
  TrainingRun run = llama_run(40, 5120, 40, 40, 13696, 125696);
  run.sequence = 1536;
  run.dp = 4;
  run.zero_stage = 2;
  run.recompute = Recompute::kFull;
  TrainingSetup setup = with(run, "deepspeed");
  EXPECT_FALSE(fits(of(setup), setup.device));
  setup.run.dp = 8;
  EXPECT_TRUE(fits(of(setup), setup.device));
}

// A ZeRO stage divides over replicas: without any it saves nothing.
TEST(StepMemory, ZeroSavesNothingWithoutReplicas) {
  TrainingRun run = llama_run(48, 8192, 64, 64, 22016, 32000);
  run.tp = 8;
  TrainingSetup setup = with(run, "deepspeed");
  const Bytes whole = of(setup).states();
  for (setup.run.zero_stage = 1; setup.run.zero_stage <= 3; ++setup.run.zero_stage) {
    EXPECT_EQ(of(setup).states(), whole);
  }
}

// meta-llama/Meta-Llama-3-8B: one fp32 copy of a sequence's logits is 4.2 GB.
TEST(StepMemory, LogitsOfALargeVocabularyAreNamed) {
  TrainingRun run = llama_run(32, 4096, 32, 8, 14336, 128256);
  run.sequence = 8192;
  const TrainingSetup setup = with(run, "megatron");
  const double copy = 8192.0 * 128256 * 4;
  EXPECT_DOUBLE_EQ(copy, 4202692608);
  const double logits = static_cast<double>(of(setup)[MemoryTerm::kLogits].count());
  EXPECT_GE(logits, copy);
  EXPECT_LE(logits, 3.5 * copy);
}

TEST(StepMemory, TermsAddUpInEveryView) {
  TrainingRun run = llama_run(32, 4096, 32, 8, 14336, 128256);
  run.dp = 8;
  run.zero_stage = 3;
  const StageMemory memory = of(with(run, "fsdp"));
  Bytes sum{};
  for (const Bytes term : memory.terms) {
    EXPECT_GE(term, Bytes{});
    sum += term;
  }
  EXPECT_EQ(memory.seen_as(MemoryView::kDriver), sum);
  EXPECT_EQ(memory.seen_as(MemoryView::kReserved), sum - memory[MemoryTerm::kContext]);
  EXPECT_EQ(memory.seen_as(MemoryView::kAllocated),
            sum - memory[MemoryTerm::kContext] - memory[MemoryTerm::kReserve]);
}

/// A random run that its own check accepts.
TrainingRun random_run(std::mt19937_64& random) {
  const auto pick = [&random](std::initializer_list<std::int32_t> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
  };
  TrainingRun run = pick({0, 1}) == 0 ? gpt_run(32, 4096, 32)
                                      : llama_run(32, 4096, 32, pick({8, 32}), 14336, 128256);
  run.tp = pick({1, 2, 4, 8});
  run.pp = pick({1, 2, 4, 8});
  run.dp = pick({1, 2, 8});
  run.cp = pick({1, 2});
  run.micro_batch = pick({1, 2, 4});
  run.micro_batches = pick({1, 4, 16});
  run.zero_stage = pick({0, 1, 2, 3});
  run.sequence_parallel = pick({0, 1}) == 1;
  run.flash_attention = pick({0, 1}) == 1;
  run.recompute = static_cast<Recompute>(pick({0, 1, 2}));
  if (pick({0, 1}) == 1) {
    run.experts = ExpertShape{.experts = 8, .per_token = 2, .feed_forward = 4096};
  }
  return run;
}

TEST(StepMemory, MovesTheRightWayWithEveryKnob) {
  constexpr std::uint64_t kSeed = 20240917;
  std::mt19937_64 random(kSeed);
  const MemoryConstants constants = prior_memory_constants();
  for (int trial = 0; trial < 400; ++trial) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", trial " << trial);
    const char* const framework = trial % 2 == 0 ? "megatron" : "deepspeed";
    const TrainingSetup setup = with(random_run(random), framework);
    ASSERT_TRUE(check(setup.run).has_value());
    const auto allocated = [&constants](const TrainingSetup& changed) {
      return step_memory(changed, constants).seen_as(MemoryView::kAllocated);
    };
    const Bytes base = allocated(setup);
    const StageMemory fullest = step_memory(setup, constants);
    for (std::int32_t stage = 0; stage < setup.run.pp; ++stage) {
      ASSERT_GE(fullest.seen_as(MemoryView::kDriver),
                stage_memory(setup, constants, stage).seen_as(MemoryView::kDriver))
          << "stage " << stage;
    }
    TrainingSetup more = setup;
    more.run.micro_batch *= 2;
    EXPECT_GE(allocated(more), base) << "micro-batch";
    more = setup;
    more.run.sequence *= 2;
    EXPECT_GE(allocated(more), base) << "sequence";
    more = setup;
    more.run.micro_batches *= 2;
    EXPECT_GE(allocated(more), base) << "micro-batches";
    TrainingSetup less = setup;
    if (setup.run.zero_stage < 3) {
      ++less.run.zero_stage;
      EXPECT_LE(step_memory(less, constants).states(), step_memory(setup, constants).states())
          << "ZeRO stage";
    }
    less = setup;
    less.run.sequence_parallel = true;
    EXPECT_LE(allocated(less), base) << "sequence parallelism";
    // Selective recomputation drops the scores, too, and has no statistics to keep.
    if (setup.run.recompute == Recompute::kNone) {
      less = setup;
      less.run.flash_attention = true;
      more = setup;
      more.run.flash_attention = false;
      EXPECT_LE(allocated(less), allocated(more)) << "flash attention";
    }
    for (std::int32_t stage = 0; stage < setup.run.pp; ++stage) {
      const auto activations = [&](Recompute recompute) {
        TrainingSetup changed = setup;
        changed.run.recompute = recompute;
        return stage_memory(changed, constants, stage)[MemoryTerm::kActivations];
      };
      EXPECT_LE(activations(Recompute::kSelective), activations(Recompute::kNone));
      EXPECT_LE(activations(Recompute::kFull), activations(Recompute::kSelective));
    }
  }
}

// One device holds every parameter of both halves.
TEST(StepMemory, HoldsTheEncodersParametersAndActivations) {
  TrainingSetup setup = setup_with("fsdp");
  setup.run = gpt_run(12, 1024, 16);
  const MemoryConstants constants = prior_memory_constants();
  const StageMemory decoder = step_memory(setup, constants);
  setup.run.encoder = EncoderShape{.layers = 12, .sequence = 2048};
  const StageMemory both = step_memory(setup, constants);
  const double each = static_cast<double>(decoder[MemoryTerm::kParameters].count()) /
                      (parameter_counts([&] {
                         TrainingRun run = setup.run;
                         run.encoder.reset();
                         return run;
                       }())
                           .total);
  EXPECT_NEAR(static_cast<double>(both[MemoryTerm::kParameters].count()) / each,
              parameter_counts(setup.run).total,
              2);
  EXPECT_GT(both[MemoryTerm::kActivations], 2 * decoder[MemoryTerm::kActivations]);
}

}  // namespace
}  // namespace stagewright
