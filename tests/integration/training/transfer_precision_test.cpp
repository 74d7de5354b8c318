#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "sim/cost/cost_model.h"
#include "sim/engine/static_pass.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

constexpr std::int32_t kSteps = 10;

/// Bytes of one message by kind.
std::map<ActionKind, std::int64_t> message_sizes(const Schedule& schedule) {
  std::map<ActionKind, std::int64_t> sizes;
  for (const RankProgram& program : schedule.programs) {
    for (const Action& action : program.actions) {
      if (is_send(action.kind) || is_receive(action.kind)) {
        sizes[action.kind] = message_bytes(program, action).count();
      }
    }
  }
  return sizes;
}

TEST(TransferPrecision, MessagesTakeTheBytesOfTheirType) {
  const ModelGraph model = small_model(Style::kGpt);
  Layout layout{.name = "pp2", .pp = 2};
  const auto whole = message_sizes(schedule_of(model, layout, sgd()));
  layout.transfer = DType::kBFloat16;
  const auto half = message_sizes(schedule_of(model, layout, sgd()));
  layout.transfer = DType::kFloat16;
  const auto activations_only = message_sizes(schedule_of(model, layout, sgd()));
  ASSERT_EQ(whole.size(), 4U);
  for (const auto& [kind, bytes] : whole) {
    const bool gradient = kind == ActionKind::kSendGradient || kind == ActionKind::kRecvGradient;
    EXPECT_EQ(half.at(kind), bytes / 2) << name_of(kind);
    EXPECT_EQ(activations_only.at(kind), gradient ? bytes : bytes / 2) << name_of(kind);
  }
}

TEST(TransferPrecision, ShorterMessagesArePricedShorter) {
  const ModelGraph model = small_model(Style::kGpt);
  Layout layout{.name = "pp2", .pp = 2};
  const auto longest_message = [&] {
    const auto simulation = simulate(schedule_of(model, layout, sgd()),
                                     cluster_of(layout),
                                     *make_analytical_cost(),
                                     {.trace = TraceDetail::kActions});
    Duration longest{};
    for (const TraceEvent& event : simulation->trace.events) {
      if (is_send(event.action)) {
        longest = std::max(longest, event.end - event.start);
      }
    }
    return longest;
  };
  const Duration whole = longest_message();
  layout.transfer = DType::kBFloat16;
  EXPECT_LT(longest_message(), whole);
}

Trace trained(Style style, const Layout& layout) {
  auto report = train(schedule_of(small_model(style), layout, sgd()), kSteps);
  EXPECT_TRUE(report) << report.error().to_string();
  return report ? std::move(report->trace) : Trace{};
}

// bf16 rounds by at most 2^-9 of a value, fp16 by 2^-12: the loss moves by less, and it does move.
TEST(TransferPrecision, TrainsWithinTheRoundingOfTheType) {
  for (const Style style : {Style::kGpt, Style::kLlama}) {
    Layout layout{.name = "pp2", .pp = 2};
    const Trace exact = trained(style, layout);
    for (const auto& [type, bound] :
         {std::pair{DType::kBFloat16, 1.0 / 512}, std::pair{DType::kFloat16, 1.0 / 4096}}) {
      layout.transfer = type;
      const Trace rounded = trained(style, layout);
      double largest = 0;
      for (std::size_t step = 0; step < kSteps; ++step) {
        largest = std::max(
            largest, std::abs(rounded.losses[step] - exact.losses[step]) / exact.losses[step]);
      }
      EXPECT_GT(largest, 0.0) << name_of(type);
      EXPECT_LT(largest, bound) << name_of(type);
    }
  }
}

// Where the borders are the same, so is what is rounded: orders and replicas train alike.
TEST(TransferPrecision, RoundsAlikeUnderEverySchedule) {
  const Trace expected =
      trained(Style::kLlama, {.name = "pp2", .pp = 2, .transfer = DType::kBFloat16});
  for (const Layout& layout :
       {Layout{.name = "gpipe", .pp = 2, .schedule = "gpipe", .transfer = DType::kBFloat16},
        Layout{.name = "zb-h1", .pp = 2, .schedule = "zb-h1", .transfer = DType::kBFloat16},
        Layout{.name = "dp2", .dp = 2, .pp = 2, .transfer = DType::kBFloat16}}) {
    const Trace actual = trained(Style::kLlama, layout);
    for (std::size_t step = 0; step < kSteps; ++step) {
      EXPECT_NEAR(actual.losses[step], expected.losses[step], 1e-4 * expected.losses[step])
          << layout.name;
    }
  }
}

}  // namespace
}  // namespace stagewright
