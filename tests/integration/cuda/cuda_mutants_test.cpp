// Programs that are wrong in one call: an event that is not recorded, a stream that does not wait
// for it, two calls that changed places.  Each must be caught: by the stand-ins, by an error of the
// run, or by its losses.

#include <cmath>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "standin_library.h"
#include "tests/integration/cuda/cuda_runs.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

constexpr std::int32_t kSteps = 1;

enum class Wrong {
  kWaitDropped,
  kRecordDropped,
  kLaunchesSwapped,
  kNcclCallsSwapped
};

struct Mutant {
  Wrong wrong = Wrong::kWaitDropped;
  int rank = 0;
  int call = 0;
};

void make_wrong(const Mutant& mutant) {
  switch (mutant.wrong) {
    case Wrong::kWaitDropped:
      return mutate_cuda(kStandinDropWait, mutant.rank, mutant.call);
    case Wrong::kRecordDropped:
      return mutate_cuda(kStandinDropRecord, mutant.rank, mutant.call);
    case Wrong::kLaunchesSwapped:
      return mutate_cuda(kStandinSwapLaunches, mutant.rank, mutant.call);
    case Wrong::kNcclCallsSwapped:
      return swap_nccl_calls(mutant.rank, mutant.call);
  }
}

[[nodiscard]] const Schedule& schedule() {
  static const Schedule made =
      schedule_of(small_model(Style::kGpt, 3),
                  {.name = "dp2_tp2_pp2_zero1", .dp = 2, .tp = 2, .pp = 2, .zero_stage = 1},
                  sgd());
  return made;
}

/// What gave it away; "" if nothing did.
[[nodiscard]] std::string caught(const Mutant& mutant) {
  static const auto right = train(schedule(), kSteps);
  const auto report = train_on_cuda(schedule(),
                                    {.steps = kSteps,
                                     .timeout = std::chrono::seconds(3),
                                     .traced_steps = kSteps,
                                     .before_steps = [&mutant] { make_wrong(mutant); }});
  if (const std::string problems = problems_of_standins(); !problems.empty()) {
    return problems.substr(0, problems.find('\n'));
  }
  if (!report) {
    return report.error().to_string();
  }
  for (std::size_t step = 0; step < right->trace.losses.size(); ++step) {
    const double expected = right->trace.losses[step];
    const double norm = right->trace.gradient_norms[step];
    if (!(std::abs(report->trace.losses[step] - expected) <= 1e-5 * expected) ||
        !(std::abs(report->trace.gradient_norms[step] - norm) <= 1e-5 * norm)) {
      return "other losses";
    }
  }
  return {};
}

void PrintTo(const Mutant& mutant, std::ostream* out) {
  *out << "mistake " << static_cast<int>(mutant.wrong) << " in call " << mutant.call << " of rank "
       << mutant.rank;
}

class CudaMutants : public testing::TestWithParam<Mutant> {};

TEST_P(CudaMutants, AreCaught) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "an order that is missing is a race, which ends the program here";
#endif
  const std::string how = caught(GetParam());
  EXPECT_NE(how, "");
  RecordProperty("caught_by", how);
}

// Calls are counted from the end of the world's start.  Not every call is here: the device keeps
// some orders twice (a wait for an event before another of the same stream), and some neighbours
// may change places (sums into different gradients).
INSTANTIATE_TEST_SUITE_P(
    CudaPath,
    CudaMutants,
    testing::Values(
        // A receive before norm-forward, sends and all-reduces behind products, embedding and adds,
        // norms and adds behind all-reduces, the loss's sums.
        Mutant{Wrong::kWaitDropped, 6, 6},
        Mutant{Wrong::kWaitDropped, 1, 9},
        Mutant{Wrong::kWaitDropped, 4, 12},
        Mutant{Wrong::kWaitDropped, 7, 15},
        Mutant{Wrong::kWaitDropped, 2, 18},
        Mutant{Wrong::kWaitDropped, 5, 21},
        Mutant{Wrong::kWaitDropped, 0, 24},
        Mutant{Wrong::kWaitDropped, 3, 27},
        Mutant{Wrong::kWaitDropped, 6, 30},
        Mutant{Wrong::kWaitDropped, 1, 33},
        Mutant{Wrong::kWaitDropped, 7, 39},
        // Begins and ends of operations.
        Mutant{Wrong::kRecordDropped, 0, 0},
        Mutant{Wrong::kRecordDropped, 1, 9},
        Mutant{Wrong::kRecordDropped, 4, 12},
        Mutant{Wrong::kRecordDropped, 2, 18},
        Mutant{Wrong::kRecordDropped, 6, 30},
        Mutant{Wrong::kRecordDropped, 7, 39},
        // Kernels of one stream.
        Mutant{Wrong::kLaunchesSwapped, 0, 0},
        Mutant{Wrong::kLaunchesSwapped, 6, 6},
        Mutant{Wrong::kLaunchesSwapped, 3, 27},
        Mutant{Wrong::kLaunchesSwapped, 7, 39},
        // Operations of NCCL: hash of the schedule, loss, two channels, gradients.
        Mutant{Wrong::kNcclCallsSwapped, 0, 0},
        Mutant{Wrong::kNcclCallsSwapped, 6, 6},
        Mutant{Wrong::kNcclCallsSwapped, 7, 15},
        Mutant{Wrong::kNcclCallsSwapped, 0, 24},
        Mutant{Wrong::kNcclCallsSwapped, 4, 36},
        Mutant{Wrong::kNcclCallsSwapped, 7, 39}));

}  // namespace
}  // namespace stagewright
