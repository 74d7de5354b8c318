#include "study/fit_kernels.h"

#include <cmath>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/cluster/cluster.h"
#include "sim/cost/kernel_time.h"
#include "study/lowered_run.h"
#include "study/record_setup.h"

namespace stagewright {
namespace {

StepConstants shipped() {
  return *load_step_constants(DataFiles::embedded());
}

Operation product(std::int64_t rows, std::int64_t inner, std::int64_t cols) {
  Operation op;
  op.kind = OpKind::kGemm;
  op.dtype = DType::kBFloat16;
  op.shape = {.rows = rows, .cols = cols, .inner = inner};
  return op;
}

/// Three times the ideal at 512 rows, less with every doubling: a law that the formulas lack.
double law(const Operation& op, const DeviceType& device) {
  const double doublings = std::log2(static_cast<double>(op.shape.rows) / 512);
  return *ideal_seconds(op, device) * 3 * std::exp(-0.1 * doublings);
}

std::vector<MeasuredKernel> points_of_law(const DeviceType& device) {
  std::vector<MeasuredKernel> points;
  for (std::int64_t rows = 512; rows <= 16384; rows *= 2) {
    for (std::int64_t inner = 512; inner <= 8192; inner *= 2) {
      for (std::int64_t cols = 512; cols <= 8192; cols *= 2) {
        const Operation op = product(rows, inner, cols);
        points.push_back({"law", device.name, op, law(op, device)});
      }
    }
  }
  return points;
}

TEST(FitKernels, FindsALawAndPrefersItToTheFormulas) {
  const DataFiles files = DataFiles::embedded();
  const DeviceType device = *find_device(files, "a100-80gb-sxm");
  const auto fits = fit_kernels(files, points_of_law(device), shipped());
  ASSERT_TRUE(fits) << fits.error().to_string();
  ASSERT_EQ(fits->size(), 1U);
  const KernelFit& fit = fits->front();
  EXPECT_LT(fit.learned.median, 0.02);
  EXPECT_GT(fit.formula.median, 0.2);
  EXPECT_GT(fit.scaled.median, 0.03);
  const Operation unseen = product(3072, 3072, 3072);
  const auto seconds = learned_seconds(fit.kernel, unseen, device);
  ASSERT_TRUE(seconds);
  EXPECT_NEAR(*seconds / law(unseen, device), 1, 0.05);
}

TEST(FitKernels, PricesOnlyWhatWasMeasuredAndLeavesTheRestToTheFormula) {
  const DataFiles files = DataFiles::embedded();
  const DeviceType device = *find_device(files, "a100-80gb-sxm");
  const auto fits = fit_kernels(files, points_of_law(device), shipped());
  ASSERT_TRUE(fits);
  StepConstants constants = shipped();
  constants.learned = {fits->front().kernel};
  const auto price = [&](double rows) {
    const KernelRates rates = kernel_rates({.device = &device}, constants, {.matrix_factor = 1});
    return product_seconds(rates, rates.wide, rows, 1024, 1024);
  };
  const double formula = price(1024);
  const double beyond = price(32768);
  constants.learned.front().preferred = true;
  const double in_training =
      fits->front().kernel.share / constants.architectures.at("ampere").matrix;
  EXPECT_NEAR(price(1024), law(product(1024, 1024, 1024), device) * in_training, 0.1 * formula);
  EXPECT_NE(price(1024), formula);
  EXPECT_EQ(price(32768), beyond);
  constants.learned.front().device = "another";
  EXPECT_EQ(price(1024), formula);
}

// A price that is right for kernels alone becomes the default only where steps say so.
TEST(FitKernels, PrefersWhatTrainingStepsBearOut) {
  const DataFiles files = DataFiles::embedded();
  const DeviceType device = *find_device(files, "a100-80gb-sxm");
  auto fits = fit_kernels(files, points_of_law(device), shipped());
  ASSERT_TRUE(fits);
  ASSERT_TRUE(judge_kernels(files, {}, shipped(), *fits));
  EXPECT_FALSE(fits->front().kernel.preferred) << "no step on the device";
  StepConstants truth = shipped();
  truth.learned = {fits->front().kernel};
  truth.learned.front().preferred = true;
  std::vector<RecordLine> steps;
  for (const std::int32_t tp : {1, 2, 4, 8}) {
    for (const std::int32_t size : {1, 2, 4}) {
      MeasuredRecord record;
      record.id = "tp" + std::to_string(tp) + " x" + std::to_string(size);
      record.dataset = "own";
      record.device = device.name;
      record.run.shape = {.layers = 8,
                          .hidden = 2048,
                          .heads = 16,
                          .kv_heads = 16,
                          .head_dim = 128,
                          .feed_forward = 8192,
                          .vocabulary = 8192};
      record.run.sequence = 1024;
      record.run.tp = tp;
      record.run.micro_batch = size;
      record.run.micro_batches = 8;
      RecordSetups setups(files);
      record.iteration_seconds = to_seconds(*static_step_time(*setups.setup_of(record), truth));
      steps.push_back({.id = record.id, .dataset = "own", .record = record, .skipped = {}});
    }
  }
  ASSERT_TRUE(judge_kernels(files, steps, shipped(), *fits));
  EXPECT_EQ(fits->front().steps, 12);
  EXPECT_LT(fits->front().step_learned, 1e-9);
  EXPECT_TRUE(fits->front().kernel.preferred);
}

// Median errors on shapes left out.  The calibrated price has nothing fitted to them.
TEST(FitKernels, MeetsPublishedProductsThatWereLeftOut) {
  const std::map<std::string, double> reached{{"a100-40gb-sxm", 0.032},
                                              {"a100-80gb-pcie", 0.067},
                                              {"b200-180gb-sxm", 0.1},
                                              {"v100-32gb-sxm", 0.072}};
  const auto text = read_file(STAGEWRIGHT_TEST_DATA "/measured_kernels.jsonl");
  ASSERT_TRUE(text);
  const auto measured = parse_measured_kernels(*text, "measured_kernels.jsonl");
  ASSERT_TRUE(measured) << measured.error().to_string();
  const auto fits = fit_kernels(DataFiles::embedded(), *measured, shipped());
  ASSERT_TRUE(fits) << fits.error().to_string();
  EXPECT_EQ(fits->size(), 4U);
  std::vector<LearnedKernel> kernels;
  for (const KernelFit& fit : *fits) {
    EXPECT_LT(fit.learned.median, 0.12) << fit.kernel.device;
    EXPECT_LT(fit.formula.median, reached.at(fit.kernel.device)) << fit.kernel.device;
    kernels.push_back(fit.kernel);
  }
  const auto back = parse_learned_kernels(to_json_text(kernels), "kernels.json");
  ASSERT_TRUE(back) << back.error().to_string();
  ASSERT_EQ(back->size(), kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    EXPECT_EQ((*back)[i].device, kernels[i].device);
    EXPECT_NEAR((*back)[i].weights[0], kernels[i].weights[0], 1e-6);
  }
}

TEST(FitKernels, SaysThatAFewPointsAreTooFew) {
  const DataFiles files = DataFiles::embedded();
  const DeviceType device = *find_device(files, "a100-80gb-sxm");
  auto points = points_of_law(device);
  points.resize(10);
  const auto fits = fit_kernels(files, points, shipped());
  ASSERT_FALSE(fits);
  EXPECT_NE(fits.error().to_string().find("40 points"), std::string::npos);
}

}  // namespace
}  // namespace stagewright
