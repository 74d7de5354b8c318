#include "planner/search/constraint.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "planner/schedules/registry.h"
#include "planner/search/cuts.h"
#include "planner/search/search.h"
#include "planner/search/space.h"
#include "sim/cost/cost_model.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

TEST(Constraint, TakesValuesRangesAndPatterns) {
  const ValueSet numbers = ValueSet::parse("8,2,4..6,16..", "--tp").value();
  for (const std::int64_t in : {2, 4, 5, 6, 8, 16, 1000}) {
    EXPECT_TRUE(numbers.has(in)) << in;
  }
  for (const std::int64_t out : {1, 3, 7, 9, 15}) {
    EXPECT_FALSE(numbers.has(out)) << out;
  }
  EXPECT_EQ(numbers.distance(10), 2);
  const ValueSet names = ValueSet::parse("ZB-*,?f?b", "--schedule").value();
  EXPECT_TRUE(names.has("zb-h1"));
  EXPECT_TRUE(names.has("1f1b"));
  EXPECT_FALSE(names.has("eager-1f1b"));
}

TEST(Constraint, BadOnesSayWhatToWrite) {
  const auto message = [](const char* name, const char* text) {
    Constraints constraints;
    const auto done = constrain(constraints, name, text);
    return done ? std::string() : done.error().to_string();
  };
  EXPECT_NE(message("tp", "8..4").find("is not a range"), std::string::npos);
  EXPECT_NE(message("tp", "many").find("is not a whole number from 1"), std::string::npos);
  EXPECT_NE(message("pp", "2,,4").find("empty item"), std::string::npos);
  EXPECT_NE(message("micro-bach", "2").find("did you mean 'micro-batch'"), std::string::npos);
  EXPECT_NE(message("schedule", "1f2b").find("1f1b"), std::string::npos);
  EXPECT_EQ(message("schedule", "zb-*"), "");
}

TEST(Constraint, SeveralInOneText) {
  const Constraints constraints = parse_constraints("tp=8,pp=4..16 zero=1,3").value();
  EXPECT_EQ(constraints.size(), 3U);
  EXPECT_TRUE(constraints.at("zero").has(3));
  EXPECT_FALSE(constraints.at("pp").has(2));
  EXPECT_FALSE(parse_constraints("tp=8 tp=4").has_value());
  EXPECT_FALSE(parse_constraints("8").has_value());
}

TEST(Cuts, AreAllThereOnce) {
  EXPECT_EQ(cut_count(10, 4), 84);
  std::vector<std::vector<std::int32_t>> all;
  for (std::int64_t i = 0; i < cut_count(10, 4); ++i) {
    all.push_back(cut_numbered(10, 4, i));
  }
  EXPECT_EQ(all.front(), (std::vector<std::int32_t>{1, 1, 1, 7}));
  EXPECT_EQ(all.back(), (std::vector<std::int32_t>{7, 1, 1, 1}));
  EXPECT_TRUE(std::ranges::is_sorted(all));
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

TEST(Schedules, SayAtOnceWhichShapesTheyAccept) {
  for (const ScheduleGenerator& generator : schedule_generators()) {
    if (generator.synthesised) {
      continue;  // where its stages lie is part of the search
    }
    for (std::int32_t ranks = 1; ranks <= 5; ++ranks) {
      for (std::int32_t stages = 1; stages <= 4; ++stages) {
        for (std::int32_t batches = 1; batches <= 13; ++batches) {
          const PipelineShape shape{
              .ranks = ranks, .virtual_stages = stages, .micro_batches = batches, .parameters = {}};
          const auto order = generator.generate(shape);
          const bool whole = order && order->stages == shape.stages();
          EXPECT_EQ(generator.accepts(shape), whole)
              << generator.name << " " << ranks << " " << stages << " " << batches;
          if (whole) {
            EXPECT_EQ(generator.layout(shape).placement, order->placement) << generator.name;
            const bool splits = std::ranges::any_of(order->ranks, [](const auto& rank) {
              return std::ranges::any_of(rank, [](const Action& action) {
                return action.kind == ActionKind::kBackwardWeight;
              });
            });
            EXPECT_TRUE(generator.splits_backward || !splits) << generator.name;
            EXPECT_TRUE(generator.pairs || order->pairs.empty()) << generator.name;
          }
        }
      }
    }
  }
}

class EmptySpace : public testing::Test {
 protected:
  [[nodiscard]] std::string message(const std::string& constraints, std::int64_t batch = 8) const {
    const DataFiles files = DataFiles::embedded();
    SearchRequest request;
    request.global_batch = batch;
    request.sequence = 8;
    request.precision.compute = DType::kFloat32;
    request.constraints = parse_constraints(constraints).value();
    const auto found = search(
        tiny_gpt(4), find_cluster(files, "1x8xcpu").value(), *make_analytical_cost(), request);
    EXPECT_FALSE(found.has_value()) << constraints;
    return found ? std::string() : found.error().to_string();
  }
};

TEST_F(EmptySpace, NamesTheConstraintsAndTheNearestRelaxation) {
  struct Case {
    const char* constraints;
    std::vector<const char*> parts;
  };
  const std::vector<Case> cases{
      {"tp=4 pp=4", {"--tp 4", "--pp 4", "16 devices", "8 devices", "would do"}},
      {"dp=3", {"--dp 3", "global batch 8 is not divisible by dp 3", "do: --dp 2"}},
      {"tp=3", {"--tp 3", "not divisible by tp 3", "do: --tp"}},
      {"pp=7..9", {"--pp 7..9", "--pp 6"}},
      {"devices=9..", {"--devices 9..", "do: --devices 8"}},
      {"micro-batch=16", {"--micro-batch 16", "--micro-batch 8"}},
      {"schedule=zb-v virtual-stages=1 pp=2", {"--schedule zb-v", "--virtual-stages 1"}},
      {"zero=3 dp=1", {"--zero 3", "--dp 1", "contradict"}},
      {"cp=2", {"--cp 2", "--cp 1"}},
      {"schedule=dualpipe pp=3", {"--schedule dualpipe", "--pp 3"}},
  };
  for (const Case& one : cases) {
    const std::string text = message(one.constraints);
    for (const char* part : one.parts) {
      EXPECT_NE(text.find(part), std::string::npos) << one.constraints << ": " << text;
    }
  }
}

TEST(Space, CountsWithoutWalking) {
  const DataFiles files = DataFiles::embedded();
  const ModelGraph model = tiny_gpt(4);
  const Cluster cluster = find_cluster(files, "2x4xh100-sxm").value();
  SearchRequest request;
  request.global_batch = 12;
  request.sequence = 8;
  request.every_cut_up_to = 4;
  request.constraints =
      parse_constraints("micro-batch=1..3 schedule=zb-*,1f1b,interleaved*").value();
  SpaceJob job = space_job(model, cluster, request);
  job.closed_form_only = true;
  std::int64_t walked = 0;
  for_each_point(job, [&](const PlanPoint&) {
    ++walked;
    return true;
  });
  EXPECT_GT(walked, 10'000);
  EXPECT_EQ(SpaceCounter(job).below(0, PlanPoint{}), walked);
}

}  // namespace
}  // namespace stagewright
