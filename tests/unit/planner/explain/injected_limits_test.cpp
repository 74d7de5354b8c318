// Steps with one known limit, whose share follows by hand from the sizes of products and messages:
// the explanation must put it first and give it that share.

#include <algorithm>
#include <functional>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "planner/explain/time_terms.h"
#include "toy_step.h"

namespace stagewright {
namespace {

constexpr double kPeak = 1e13;
constexpr double kPoints = 0.03;

struct Instance {
  std::string name;
  ToyModel model;
  Cluster cluster;
  Plan plan;
  std::vector<std::string> terms;  ///< that the limit shows as; the largest of all is one of them
  double expected = 0;             ///< their share of the step
};

std::ostream& operator<<(std::ostream& out, const Instance& instance) {
  return out << instance.name;
}

double ring_all_reduce(double members, double bytes, double bandwidth) {
  return 2 * (members - 1) / members * bytes / bandwidth;
}

const std::vector<std::string> kFillAndDrain{"bubble: warm-up", "bubble: cool-down"};
const std::vector<std::string> kTensor{"exposed communication: tensor"};
const std::vector<std::string> kData{"exposed communication: data"};
const std::vector<std::string> kPipeline{"exposed communication: pipeline"};
const std::vector<std::string> kImbalance{"bubble: imbalance"};
const std::vector<std::string> kBlocks{"compute: blocks"};
const std::vector<std::string> kEnds{"compute: embedding and head"};
const std::vector<std::string> kOptimizer{"optimizer step"};

/// Sums over the tensor group in a step of one micro-batch: two a block each way, the embedding's
/// output, the gradient of the head's input.
double tensor_sums(const ToyModel& model) {
  return 4 * static_cast<double>(model.blocks) + 2;
}

Instance tensor(std::string name, const ToyMachine& machine, std::int32_t tp, double each) {
  const ToyModel model;
  const double traffic = tensor_sums(model) * each;
  return {std::move(name),
          model,
          toy_cluster(machine),
          toy_plan(model, {.tp = tp}),
          kTensor,
          traffic / (traffic + model.all(kPeak, tp))};
}

Instance slow_link_inside_the_node() {
  const double bandwidth = 1e9;
  return tensor("slow_link_inside_the_node",
                {.devices = 4, .inside = bandwidth},
                4,
                ring_all_reduce(4, ToyModel{}.activation_bytes(), bandwidth));
}

Instance tensor_parallelism_between_nodes() {
  const double bandwidth = 5e8;
  return tensor("tensor_parallelism_between_nodes",
                {.nodes = 2, .between = bandwidth},
                2,
                ring_all_reduce(2, ToyModel{}.activation_bytes(), bandwidth));
}

Instance latency_of_tensor_parallelism() {
  const double latency = 2e-4;
  const double chain = 2 * 7 * latency;  // there and back through eight members
  Instance instance =
      tensor("latency_of_tensor_parallelism", {.devices = 8, .latency_inside = latency}, 8, chain);
  // The loss sums a maximum and a sum over the slices of the vocabulary, too.
  const double traffic = (tensor_sums(instance.model) + 2) * chain;
  instance.expected = traffic / (traffic + instance.model.all(kPeak, 8));
  return instance;
}

Instance gradients(std::string name, const ToyMachine& machine, std::int32_t dp, double bandwidth) {
  const ToyModel model;
  const double traffic = ring_all_reduce(dp, 4 * model.parameters(), bandwidth);
  return {std::move(name),
          model,
          toy_cluster(machine),
          toy_plan(model, {.dp = dp}),
          kData,
          traffic / (traffic + model.all(kPeak))};
}

Instance slow_network_for_gradients() {
  return gradients("slow_network_for_gradients", {.nodes = 2, .between = 2e9}, 2, 2e9);
}

Instance slow_bus_for_gradients() {
  return gradients("slow_bus_for_gradients", {.devices = 4, .inside = 3e9}, 4, 3e9);
}

/// Four tensor-parallel groups' gradients leave each node through one network card.
Instance shared_network_card() {
  const ToyModel model;
  const double bandwidth = 4e9;
  const double traffic = ring_all_reduce(2, 4 * model.parameters() / 4, bandwidth / 4);
  return {"shared_network_card",
          model,
          toy_cluster({.nodes = 2, .devices = 4, .between = bandwidth, .devices_per_nic = 4}),
          toy_plan(model, {.dp = 2, .tp = 4}),
          kData,
          traffic / (traffic + model.all(kPeak, 4))};
}

/// Half of the traffic sums gradients, half gathers what each owner has updated.
Instance gathers_of_sharded_state() {
  Instance instance = gradients("gathers_of_sharded_state", {.devices = 4, .inside = 3e9}, 4, 3e9);
  instance.plan.zero_stage = 1;
  instance.terms = {"exposed communication: data", "exposed communication: parameter gathers"};
  return instance;
}

double stage_time(const ToyModel& model, double blocks, double peak = kPeak) {
  return blocks * (model.block_forward(peak) + model.block_backward(peak));
}

/// With equal stages and one micro-batch after the other: (stages - 1) of (micro-batches + stages -
/// 1) slots are empty.
Instance few_micro_batches(std::string name,
                           std::int32_t stages,
                           std::int32_t micro_batches,
                           const char* schedule = "1f1b") {
  const ToyModel model;
  Plan plan = toy_plan(model, {.pp = stages, .micro_batches = micro_batches});
  plan.schedule = schedule;
  return {std::move(name),
          model,
          toy_cluster({.devices = stages}),
          plan,
          kFillAndDrain,
          (stages - 1.0) / (micro_batches + stages - 1.0)};
}

/// One micro-batch, messages of `seconds`: each goes there and back once on the way.
Instance slow_messages() {
  const ToyModel model;
  const double bandwidth = 4e6;
  const double seconds = model.activation_bytes() / bandwidth;
  return {"slow_messages",
          model,
          toy_cluster({.nodes = 2, .between = bandwidth}),
          toy_plan(model, {.pp = 2}),
          kPipeline,
          2 * seconds / (2 * seconds + model.all(kPeak))};
}

/// Messages take longer than computation, one after the other on the link; nothing hides them but
/// the computation of the other side.
Instance queued_messages() {
  const ToyModel model;
  const double bandwidth = 1e7;
  const double message = model.activation_bytes() / bandwidth;
  const std::int32_t count = 4;
  Plan plan = toy_plan(model, {.pp = 2, .micro_batches = count});
  plan.schedule = "gpipe";
  const double each = model.all(kPeak) / 2;  // of a stage, both ways
  const double step = 2 * count * message + 2 * each;
  return {"queued_messages",
          model,
          toy_cluster({.nodes = 2, .between = bandwidth}),
          plan,
          kPipeline,
          (step - (count + 1) * each) / step};
}

/// The slowest stage works through all micro-batches, each other stage adds its time once.  Equal
/// stages would take (micro-batches + stages - 1) times the mean.
Instance unequal(Instance instance, const std::vector<double>& stages) {
  const double sum = std::accumulate(stages.begin(), stages.end(), 0.0);
  const double slowest = *std::ranges::max_element(stages);
  const double chunks = instance.plan.micro_batches;
  const double count = static_cast<double>(stages.size());
  const double step = (chunks - 1) * slowest + sum;
  instance.terms = kImbalance;
  instance.expected = (step - (chunks + count - 1) * sum / count) / step;
  return instance;
}

Instance one_heavy_stage() {
  const ToyModel model{.blocks = 11};
  Plan plan = toy_plan(model, {.pp = 4, .micro_batches = 32});
  const std::vector<std::int32_t> blocks{1, 1, 8, 1};
  std::int32_t first = 0;
  std::vector<double> times;
  for (std::size_t s = 0; s < blocks.size(); ++s) {
    plan.stages[s].first_layer = first;
    plan.stages[s].layers = blocks[s] + (s == 0 || s + 1 == blocks.size() ? 1 : 0);
    first += plan.stages[s].layers;
    times.push_back(stage_time(model, blocks[s]));
  }
  times.back() += model.head_forward(kPeak) + model.head_backward(kPeak);
  return unequal({"one_heavy_stage", model, toy_cluster({.devices = 4}), plan, {}}, times);
}

Instance heavy_head_at_the_end_of_a_pipeline() {
  const ToyModel model{.vocabulary = 131072};
  std::vector<double> times(4, stage_time(model, 2));
  times.back() += model.head_forward(kPeak) + model.head_backward(kPeak);
  return unequal({"heavy_head_at_the_end_of_a_pipeline",
                  model,
                  toy_cluster({.devices = 4}),
                  toy_plan(model, {.pp = 4, .micro_batches = 32}),
                  {}},
                 times);
}

Instance one_slow_device() {
  const ToyModel model;
  Cluster cluster = toy_cluster({.devices = 4});
  DeviceType slow = cluster.types.front();
  slow.name = "slow";
  slow.peak = {{DType::kFloat32, FlopsPerSecond(kPeak / 8)}};
  cluster.types.push_back(slow);
  cluster.nodes.front().devices[1] = 1;
  std::vector<double> times(4, stage_time(model, 2));
  times[1] = stage_time(model, 2, kPeak / 8);
  times.back() += model.head_forward(kPeak) + model.head_backward(kPeak);
  return unequal(
      {"one_slow_device", model, cluster, toy_plan(model, {.pp = 4, .micro_batches = 32}), {}},
      times);
}

Instance compute(std::string name, ToyModel model, std::vector<std::string> terms) {
  const double head = model.head_forward(kPeak) + model.head_backward(kPeak);
  const double all = model.all(kPeak);
  const bool ends = terms == kEnds;
  return {std::move(name),
          model,
          toy_cluster({}),
          toy_plan(model, {}),
          std::move(terms),
          (ends ? head : all - head) / all};
}

Instance huge_vocabulary() {
  return compute("huge_vocabulary", {.blocks = 2, .vocabulary = 262144}, kEnds);
}

/// Traffic that matters on fast devices does not on slow ones.
Instance slow_devices() {
  const ToyModel model;
  const double peak = 2e11;
  const double bandwidth = 1e9;
  const double traffic = ring_all_reduce(2, 4 * model.parameters(), bandwidth);
  const double blocks =
      static_cast<double>(model.blocks) * (model.block_forward(peak) + model.block_backward(peak));
  return {"slow_devices",
          model,
          toy_cluster({.devices = 2, .peak = peak, .inside = bandwidth}),
          toy_plan(model, {.dp = 2}),
          kBlocks,
          blocks / (traffic + model.all(peak))};
}

/// AdamW reads a gradient and reads and writes a parameter and two moments, in fp32.
Instance slow_optimizer() {
  const ToyModel model;
  const double rate = 5e9;
  const double seconds = 28 * model.parameters() / rate;
  return {"slow_optimizer",
          model,
          toy_cluster({.optimizer = rate}),
          toy_plan(model, {}),
          kOptimizer,
          seconds / (seconds + model.all(kPeak))};
}

/// A forward again before each backward; the head runs once.
Instance everything_again() {
  Instance instance = compute("everything_again", {.vocabulary = 131072}, kEnds);
  for (StagePlan& stage : instance.plan.stages) {
    stage.recompute = Recompute::kFull;
  }
  const ToyModel& model = instance.model;
  const double again = static_cast<double>(model.blocks) * model.block_forward(kPeak);
  const double all = model.all(kPeak);
  const double head = model.head_forward(kPeak) + model.head_backward(kPeak);
  instance.terms = kEnds;
  instance.expected = head / (all + again);
  return instance;
}

std::vector<Instance> instances() {
  return {slow_link_inside_the_node(),
          tensor_parallelism_between_nodes(),
          latency_of_tensor_parallelism(),
          slow_network_for_gradients(),
          slow_bus_for_gradients(),
          shared_network_card(),
          gathers_of_sharded_state(),
          few_micro_batches("one_micro_batch_on_four_stages", 4, 1),
          few_micro_batches("two_micro_batches_on_eight_stages", 8, 2),
          few_micro_batches("one_micro_batch_on_eight_stages", 8, 1),
          few_micro_batches("gpipe_with_two_micro_batches", 8, 2, "gpipe"),
          slow_messages(),
          queued_messages(),
          one_heavy_stage(),
          heavy_head_at_the_end_of_a_pipeline(),
          one_slow_device(),
          huge_vocabulary(),
          compute("nothing_but_products", {}, kBlocks),
          slow_devices(),
          slow_optimizer(),
          everything_again()};
}

class InjectedLimits : public testing::TestWithParam<Instance> {};

TEST_P(InjectedLimits, ComeFirstWithTheirShare) {
  const Instance& instance = GetParam();
  const ExplainJob job = toy_job(instance.model, instance.cluster);
  const auto priced = price_plan(job, instance.plan);
  ASSERT_TRUE(priced.has_value()) << priced.error().to_string();
  const std::vector<TimeTerm> terms = time_terms(*priced, job.model);
  ASSERT_FALSE(terms.empty());
  std::string all;
  double share = 0;
  double sum = 0;
  for (const TimeTerm& term : terms) {
    const bool limit = std::ranges::find(instance.terms, term.text()) != instance.terms.end();
    share += limit ? term.share : 0;
    sum += term.share;
    all += term.text() + " " + std::to_string(term.share) + "\n";
  }
  EXPECT_NE(std::ranges::find(instance.terms, terms.front().text()), instance.terms.end()) << all;
  EXPECT_NEAR(share, instance.expected, kPoints) << all;
  EXPECT_NEAR(sum, 1, 1e-6) << all;
}

INSTANTIATE_TEST_SUITE_P(All,
                         InjectedLimits,
                         testing::ValuesIn(instances()),
                         [](const testing::TestParamInfo<Instance>& instance) {
                           return instance.param.name;
                         });

TEST(TimeTerms, GathersTakeHalfOfShardedTraffic) {
  const Instance instance = gathers_of_sharded_state();
  const ExplainJob job = toy_job(instance.model, instance.cluster);
  const auto priced = price_plan(job, instance.plan);
  ASSERT_TRUE(priced.has_value());
  const double step = to_seconds(priced->summary.step_time);
  const auto& exposed = priced->use.mean.exposed;
  EXPECT_NEAR(exposed.at("data") / step, instance.expected / 2, kPoints);
  EXPECT_NEAR(exposed.at(kParameterGathers) / step, instance.expected / 2, kPoints);
}

TEST(TimeTerms, RepeatedForwardsAreTheBlocksForwards) {
  const Instance instance = everything_again();
  const ExplainJob job = toy_job(instance.model, instance.cluster);
  const auto priced = price_plan(job, instance.plan);
  ASSERT_TRUE(priced.has_value());
  double again = 0;
  for (const auto& [layer, seconds] : priced->use.mean.repeated) {
    EXPECT_EQ(job.model.layers[layer.index()].role, LayerRole::kBlock);
    again += seconds;
  }
  // What only a block's output needs, its last product, is not repeated.
  const ToyModel& model = instance.model;
  const double whole = static_cast<double>(model.blocks) * model.block_forward(kPeak);
  EXPECT_LT(again, whole * 1.0001);
  EXPECT_GT(again, whole * 0.6);
}

TEST(TimeTerms, DifferencesAddUpToTheDifferenceOfTheSteps) {
  const Instance few = few_micro_batches("few", 4, 2);
  const Instance plenty = few_micro_batches("plenty", 4, 8);
  const ExplainJob job = toy_job(few.model, few.cluster);
  const auto a = price_plan(job, few.plan);
  const auto b = price_plan(job, plenty.plan);
  ASSERT_TRUE(a.has_value() && b.has_value());
  const auto all = differences(time_terms(*a, job.model), time_terms(*b, job.model));
  double sum = 0;
  for (const TermDifference& term : all) {
    EXPECT_LE(std::abs(term.change()), std::abs(all.front().change()));
    sum += term.change();
  }
  EXPECT_NEAR(sum, to_seconds(b->summary.step_time) - to_seconds(a->summary.step_time), 1e-9);
}

}  // namespace
}  // namespace stagewright
