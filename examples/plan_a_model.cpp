// Plans a model with the library: plan_a_model [MODEL [CLUSTER [GLOBAL-BATCH [CONSTRAINTS]]]]
//
//   plan_a_model llama3-70b 16x8xh100-sxm 1024 "tp=8 pp=2..8"

#include <cstdlib>
#include <iostream>
#include <string>

#include "formats/model_file.h"
#include "planner/plan_job.h"

using namespace stagewright;

namespace {

int report(const Error& error) {
  std::cerr << error.to_string() << "\n";
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, const char* otherwise) {
    return std::string(i < argc ? argv[i] : otherwise);
  };
  const DataFiles files = DataFiles::embedded();
  auto model = find_model(files, argument(1, "gpt2"));
  if (!model) {
    return report(model.error());
  }
  auto cluster = find_cluster(files, argument(2, "1x8xa100-80gb-sxm"));
  if (!cluster) {
    return report(cluster.error());
  }
  PlanJob job{.model = *model, .cluster = *cluster};
  job.global_batch = std::atoll(argument(3, "64").c_str());
  job.constraints = argument(4, "");
  job.plans = 3;
  const auto found = plan_job(job, files);
  if (!found) {
    return report(found.error());
  }
  for (const Candidate& candidate : found->plans) {
    std::cout << summary(candidate.plan) << ": " << to_string(candidate.step_time) << " a step, "
              << to_string(candidate.peak_memory) << "\n";
  }
  std::cout << found->space.size << " points; no plan is more than " << 100 * found->gap
            << " % better than the first\n";
  return EXIT_SUCCESS;
}
