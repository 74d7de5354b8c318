#include "study/fit_kernels.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/cluster/cluster.h"

namespace stagewright {
namespace {

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
  const auto fits = fit_kernels(files, points_of_law(device));
  ASSERT_TRUE(fits) << fits.error().to_string();
  ASSERT_EQ(fits->size(), 1U);
  const KernelFit& fit = fits->front();
  EXPECT_LT(fit.learned.median, 0.02);
  EXPECT_GT(fit.analytical.median, 0.2);
  EXPECT_TRUE(fit.kernel.preferred);
  const Operation unseen = product(3072, 3072, 3072);
  const auto seconds = learned_seconds(fit.kernel, unseen, device);
  ASSERT_TRUE(seconds);
  EXPECT_NEAR(*seconds / law(unseen, device), 1, 0.05);
}

TEST(FitKernels, PricesOnlyWhatWasMeasuredAndLeavesTheRestToTheFormulas) {
  const DataFiles files = DataFiles::embedded();
  const DeviceType device = *find_device(files, "a100-80gb-sxm");
  const auto fits = fit_kernels(files, points_of_law(device));
  ASSERT_TRUE(fits);
  const auto cost = make_learned_cost({fits->front().kernel}, make_analytical_cost());
  EXPECT_EQ(cost->operation(product(1024, 1024, 1024), device).source, PriceSource::kLearned);
  const Operation larger = product(32768, 1024, 1024);
  EXPECT_EQ(cost->operation(larger, device), make_analytical_cost()->operation(larger, device));
  DeviceType other = device;
  other.name = "another";
  EXPECT_EQ(cost->operation(product(1024, 1024, 1024), other).source, PriceSource::kAnalytical);
  LearnedKernel worse = fits->front().kernel;
  worse.preferred = false;
  EXPECT_EQ(make_learned_cost({worse}, make_analytical_cost())
                ->operation(product(1024, 1024, 1024), device)
                .source,
            PriceSource::kAnalytical);
}

TEST(FitKernels, MeetsPublishedProductsThatWereLeftOut) {
  const auto text = read_file(STAGEWRIGHT_TEST_DATA "/measured_kernels.jsonl");
  ASSERT_TRUE(text);
  const auto measured = parse_measured_kernels(*text, "measured_kernels.jsonl");
  ASSERT_TRUE(measured) << measured.error().to_string();
  const auto fits = fit_kernels(DataFiles::embedded(), *measured);
  ASSERT_TRUE(fits) << fits.error().to_string();
  EXPECT_EQ(fits->size(), 4U);
  std::vector<LearnedKernel> kernels;
  for (const KernelFit& fit : *fits) {
    EXPECT_LT(fit.learned.median, 0.12) << fit.kernel.device;
    EXPECT_TRUE(fit.kernel.preferred) << fit.kernel.device;
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
  const auto fits = fit_kernels(files, points);
  ASSERT_FALSE(fits);
  EXPECT_NE(fits.error().to_string().find("40 points"), std::string::npos);
}

}  // namespace
}  // namespace stagewright
