// Whole plans on the CUDA and NCCL path over the stand-ins: the same losses and norms as on the
// CPU, and no order missing.

#include <tuple>

#include <gmock/gmock.h>

#include "standin_library.h"
#include "tests/integration/cuda/cuda_runs.h"
#include "tests/integration/training/alike_traces.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

constexpr std::int32_t kSteps = 3;

/// Trains by the schedule on both and compares.
void expect_as_on_the_cpu(const Schedule& schedule, double tolerance, const CudaRun& run = {}) {
  const auto expected = train(schedule, run.steps);
  ASSERT_TRUE(expected) << expected.error().to_string();
  const auto actual = train_on_cuda(schedule, run);
  ASSERT_TRUE(actual) << actual.error().to_string();
  EXPECT_EQ(problems_of_standins(), "");
  expect_alike(actual->trace, expected->trace, tolerance);
}

class CudaEquality : public testing::TestWithParam<Layout> {};

TEST_P(CudaEquality, GptTrainsAsOnTheCpu) {
  expect_as_on_the_cpu(schedule_of(small_model(Style::kGpt), GetParam(), sgd()), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Layouts,
                         CudaEquality,
                         testing::ValuesIn(equal_layouts()),
                         [](const auto& chosen) { return chosen.param.name; });

/// Experts, whose rows the host has to count.
class CudaExperts : public testing::TestWithParam<Layout> {};

TEST_P(CudaExperts, TrainAsOnTheCpu) {
  const Style style = styles_of(GetParam()).front();
  const bool narrow = GetParam().compute != DType::kFloat32;
  expect_as_on_the_cpu(schedule_of(small_model(style), GetParam(), sgd()), narrow ? 1e-2 : 1e-5);
}

/// Those of the CPU's tests, and every kind of parallelism at once on 8 ranks.
[[nodiscard]] std::vector<Layout> layouts_with_experts() {
  std::vector<Layout> layouts = expert_layouts();
  layouts.insert(layouts.end(), context_expert_layouts().begin(), context_expert_layouts().end());
  layouts.push_back({.name = "dp2_tp2_pp2_ep2_zero1",
                     .dp = 2,
                     .tp = 2,
                     .pp = 2,
                     .ep = 2,
                     .zero_stage = 1,
                     .experts = true});
  layouts.push_back({.name = "dp4_pp2_ep4_interleaved_zero2",
                     .dp = 4,
                     .pp = 2,
                     .ep = 4,
                     .virtual_stages = 2,
                     .schedule = "interleaved-1f1b",
                     .zero_stage = 2,
                     .experts = true});
  layouts.push_back({.name = "dp4_ep2_bf16",
                     .dp = 4,
                     .ep = 2,
                     .zero_stage = 1,
                     .compute = DType::kBFloat16,
                     .experts = true});
  return layouts;
}

INSTANTIATE_TEST_SUITE_P(Layouts,
                         CudaExperts,
                         testing::ValuesIn(layouts_with_experts()),
                         [](const auto& chosen) { return chosen.param.name; });

[[nodiscard]] Layout layout_named(const std::string& name) {
  for (const Layout& layout : all_layouts()) {
    if (layout.name == name) {
      return layout;
    }
  }
  ADD_FAILURE() << "no layout " << name;
  return {};
}

/// All ranks on one device: ones that NCCL would refuse.
class OneDevice : public testing::TestWithParam<std::string> {};

TEST_P(OneDevice, TrainsAsTheCpu) {
  const Schedule schedule = schedule_of(small_model(Style::kGpt), layout_named(GetParam()), sgd());
  const auto expected = train(schedule, kSteps);
  const auto actual = train_on_one_device(schedule, {.standins = {.devices = 1}});
  ASSERT_TRUE(expected && actual) << (actual ? "" : actual.error().to_string());
  EXPECT_EQ(problems_of_standins(), "");
  expect_alike(actual->trace, expected->trace, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Layouts,
                         OneDevice,
                         testing::Values("one_rank",
                                         "dp2_tp2_pp2",
                                         "pp4_dualpipe_v",
                                         "dp2_tp2_pp2_zero3",
                                         "dp2_sp2_pp2_zero3",
                                         "dp2_pp2_chimera_zero1"),
                         [](const auto& chosen) { return chosen.param; });

TEST(OneDevicePrecision, AddsSixteenBitsAsTheCpu) {
  const Schedule schedule =
      schedule_of(small_model(Style::kGpt, 3), layout_named("dp2_tp2_pp2_bf16_zero1"), adamw());
  const auto expected = train(schedule, kSteps);
  const auto actual = train_on_one_device(schedule, {.standins = {.devices = 1}});
  ASSERT_TRUE(expected && actual) << (actual ? "" : actual.error().to_string());
  EXPECT_EQ(problems_of_standins(), "");
  expect_alike(actual->trace, expected->trace, 1e-2);
}

/// Other models and optimizers, where all kinds of parallelism come together.
class CudaModels : public testing::TestWithParam<std::tuple<Style, std::string>> {};

TEST_P(CudaModels, TrainAsOnTheCpu) {
  const auto& [style, layout] = GetParam();
  expect_as_on_the_cpu(schedule_of(small_model(style), layout_named(layout), adamw()), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts,
    CudaModels,
    testing::Combine(testing::Values(Style::kLlama, Style::kEncoder),
                     testing::Values("one_rank", "dp2_tp2_pp2_zero1", "sp2_pp2_interleaved")),
    [](const auto& chosen) {
      return std::string(std::get<0>(chosen.param) == Style::kLlama ? "llama_" : "encoder_") +
             std::get<1>(chosen.param);
    });

// The widened operations round where the CPU's do; bf16 products sum in another order.
// Attention is cuDNN's where this program knows it: it says so.
TEST(CudaPrecision, AttentionInSixteenBitsIsCudnns) {
  const auto notes = [](const char* layout) {
    const auto report = train_on_cuda(
        schedule_of(small_model(Style::kLlama, 3), layout_named(layout), adamw()), {.steps = 1});
    EXPECT_TRUE(report) << report.error().to_string();
    EXPECT_EQ(problems_of_standins(), "");
    return report ? report->device_notes : std::vector<std::string>();
  };
#if defined(STAGEWRIGHT_STANDIN_CUDNN)
  EXPECT_THAT(
      notes("dp2_tp2_pp2_bf16_zero1"),
      testing::Contains(testing::AllOf(testing::HasSubstr("2 heads on 1 of 8, causal, bf16"),
                                       testing::HasSubstr("): cuDNN "))));
  EXPECT_THAT(notes("tp2_cp2_bf16_zero1"),
              testing::Contains("attention: blockwise, since keys and values come round a ring"));
#else
  EXPECT_THAT(notes("dp2_tp2_pp2_bf16_zero1"),
              testing::Contains(testing::HasSubstr("built without cuDNN's headers")));
#endif
}

TEST(CudaPrecision, MixedPrecisionTrainsAsOnTheCpu) {
  for (const char* name : {"dp2_tp2_pp2_bf16_zero1", "dp2_sp2_fp16_zero3", "tp2_cp2_bf16_zero1"}) {
    SCOPED_TRACE(name);
    expect_as_on_the_cpu(schedule_of(small_model(Style::kGpt, 3), layout_named(name), adamw()),
                         1e-2);
  }
}

// Whenever operations of a stream begin.
TEST(CudaDelays, ChangeNothing) {
  const Schedule schedule =
      schedule_of(small_model(Style::kGpt), layout_named("dp2_tp2_pp2_zero1"), sgd());
  for (const unsigned seed : {1U, 2U}) {
    SCOPED_TRACE(seed);
    expect_as_on_the_cpu(
        schedule, 1e-5, {.steps = kSteps, .standins = {.seed = seed, .longest_delay_us = 300}});
  }
}

// Updates do not wait for the totals then, and each rank looks at its own gradients first.
TEST(CudaUpdates, NeedNoClipping) {
  expect_as_on_the_cpu(
      schedule_of(small_model(Style::kGpt, 2), layout_named("dp2"), without_clipping(adamw())),
      1e-4);
}

TEST(CudaTrace, HasTheTimesOfTheDevice) {
  const Schedule schedule =
      schedule_of(small_model(Style::kGpt, 3), layout_named("pp2_1f1b"), sgd());
  const auto report = train_on_cuda(schedule, {.steps = 1, .traced_steps = 1});
  ASSERT_TRUE(report) << report.error().to_string();
  ASSERT_FALSE(report->trace.events.empty());
  for (const TraceEvent& event : report->trace.events) {
    EXPECT_LE(event.posted, event.start);
    EXPECT_LE(event.start, event.end);
  }
}

}  // namespace
}  // namespace stagewright
