#include "study/step_parameters.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/cluster/cluster.h"
#include "formats/measured_kernels.h"
#include "sim/cost/kernel_time.h"

namespace stagewright {
namespace {

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// Large products whose sizes fill tiles; what else a sweep holds is not limited by the units.
bool is_large(const Operation& op) {
  const double work = 2.0 * static_cast<double>(op.shape.rows) *
                      static_cast<double>(op.shape.cols) * static_cast<double>(op.shape.inner);
  return op.kind == OpKind::kGemm && work > 5e10 && op.shape.rows % 64 == 0 &&
         op.shape.cols % 64 == 0 && op.shape.inner % 64 == 0;
}

// The rate that makes the median measured product take its time is the prior.
TEST(StepParameters, PriorsAreWhatIsolatedProductsReach) {
  const auto text = read_file(STAGEWRIGHT_TEST_DATA "/measured_kernels.jsonl");
  ASSERT_TRUE(text);
  const auto measured = parse_measured_kernels(*text, "measured_kernels.jsonl");
  ASSERT_TRUE(measured) << measured.error().to_string();
  const DataFiles files = DataFiles::embedded();
  const std::map<std::string, std::string> swept{
      {"a100-40gb-sxm", "ampere"}, {"v100-32gb-sxm", "volta"}, {"b200-180gb-sxm", "blackwell"}};
  StepConstants constants = prior_step_constants();
  for (const StepParameter& parameter : step_parameters({}, {"ampere", "volta", "blackwell"})) {
    value_of(constants, parameter) = parameter.prior;
  }
  for (const auto& [name, architecture] : swept) {
    const DeviceType device = *find_device(files, name);
    const KernelRates rates =
        kernel_rates({.device = &device}, constants, {.host_micros = 0, .matrix_factor = 1});
    std::vector<double> ratios;
    for (const MeasuredKernel& kernel : *measured) {
      if (kernel.device == name && is_large(kernel.op)) {
        ratios.push_back(product_seconds(rates,
                                         rates.wide,
                                         static_cast<double>(kernel.op.shape.rows),
                                         static_cast<double>(kernel.op.shape.inner),
                                         static_cast<double>(kernel.op.shape.cols)) /
                         kernel.seconds);
      }
    }
    ASSERT_GT(ratios.size(), 50U) << name;
    EXPECT_NEAR(median(ratios), 1, 0.02) << architecture;
  }
}

}  // namespace
}  // namespace stagewright
