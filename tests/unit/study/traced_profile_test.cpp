#include "study/traced_profile.h"

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "planner/search/layer_costs.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;

/// Three blocks of unequal times, thrice.
TracedModel traced() {
  TracedModel model;
  model.passes = 3;
  for (const Duration time : std::vector<Duration>{1ms, 8ms, 9ms, 10ms, 15ms}) {
    model.layers.push_back({"", {time, time, time}, {2 * time, 2 * time, 2 * time}});
  }
  return model;
}

TEST(TracedProfile, PricesLayersAsTheTraceShowsThem) {
  const ModelGraph model = tiny_gpt(3);
  const DataFiles files = DataFiles::embedded();
  const auto cluster = find_cluster(files, "1x1xcpu");
  ASSERT_TRUE(cluster.has_value());
  const TracedSizes sizes{2, 8, {.compute = DType::kFloat32}};
  const auto profile = traced_profile(model, *cluster, traced(), sizes);
  ASSERT_TRUE(profile.has_value()) << profile.error().to_string();
  EXPECT_EQ(parse_profile(to_json_text(*profile), "p").value(), *profile);

  Plan plan;
  plan.sequence = 8;
  plan.micro_batch_size = 2;
  plan.precision = sizes.precision;
  plan.stages = {{.layers = 5}};
  const auto costs =
      layer_costs(model, *cluster, *make_profiled_cost(*profile, make_analytical_cost()), plan);
  ASSERT_TRUE(costs.has_value()) << costs.error().to_string();
  EXPECT_EQ(costs->layers[0].forward, 1ms);
  EXPECT_EQ(costs->layers[0].backward, 2ms);
  for (std::size_t block = 1; block <= 3; ++block) {  // all alike: their median
    EXPECT_EQ(costs->layers[block].forward, 9ms);
    EXPECT_EQ(costs->layers[block].backward, 18ms);
    // In halves each operation has its share.
    const Duration halves = costs->layers[block].input + costs->layers[block].weight;
    EXPECT_NEAR(to_seconds(halves), 18e-3, 1e-6);
  }
  EXPECT_EQ(costs->layers[4].forward, 15ms);
  EXPECT_EQ(costs->layers[4].backward, 30ms);
}

}  // namespace
}  // namespace stagewright
