#include "study/traced_layers.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

constexpr std::int32_t kMain = 0;
constexpr std::int32_t kAutograd = 1;

/// A trace that is written pass by pass: an embedding, blocks and a head around a loss.  Every
/// forward operation makes one node and takes the time that it is given.
class TraceWriter {
 public:
  explicit TraceWriter(std::int32_t backward_thread = kMain) : backward_thread_(backward_thread) {}

  struct Times {
    std::vector<double> forward;   ///< by layer
    std::vector<double> backward;  ///< by layer
  };

  void forward(const Times& times, bool with_root = true) {
    const double begin = now_;
    first_node_.push_back(node_);
    for (std::size_t layer = 0; layer < times.forward.size(); ++layer) {
      const bool block = layer > 0 && layer + 1 < times.forward.size();
      const double from = now_;
      now_ += 1;  // Python
      // The operation around another has the number of the node that comes next, too.
      op("aten::linear", times.forward[layer], node_);
      op_inside("aten::addmm", times.forward[layer] / 2, node_);
      ++node_;
      now_ += 1;
      if (block) {
        trace_.modules.push_back({"Block_" + std::to_string(layer - 1), kMain, from, now_ - from});
        trace_.modules.push_back({"Linear_" + std::to_string(layer), kMain, from, now_ - from});
      }
    }
    if (with_root) {
      trace_.modules.push_back({"Gpt_0", kMain, begin, now_ - begin});
    }
    trace_.modules.push_back({"CrossEntropyLoss_0", kMain, now_, 3});
    op("aten::cross_entropy_loss", 2, node_++);
    now_ += 5;
  }

  /// Of the pass of that number.
  void backward(std::size_t pass, const Times& times) {
    std::int64_t node = first_node_[pass] + static_cast<std::int64_t>(times.backward.size());
    evaluate("NllLossBackward0", 1, node--);
    for (std::size_t layer = times.backward.size(); layer-- > 0; --node) {
      evaluate("AddmmBackward0", times.backward[layer] - 2, node);
      evaluate("torch::autograd::AccumulateGrad", 2, std::nullopt);
    }
    now_ += 5;
  }

  void optimizer() {
    trace_.annotations.push_back({"Optimizer.step#AdamW.step", kMain, now_, 100});
    op("aten::add_", 90, node_);
    now_ += 20;
  }

  /// The kernels that an operation launches take ten times as long as it does.
  void launch_from_all() {
    std::int64_t correlation = 0;
    for (const KinetoOp& op : trace_.ops) {
      if (op.name != "aten::addmm") {
        trace_.launches.push_back({op.thread, op.begin_us + 0.25, ++correlation});
        trace_.kernels.push_back({"kernel", 10 * op.duration_us, correlation});
      }
    }
    trace_.launches.push_back({kMain, trace_.ops.front().begin_us, ++correlation});
    trace_.kernels.push_back({"ncclDevKernel_AllReduce", 1e6, correlation});
  }

  [[nodiscard]] KinetoTrace trace() {
    const auto earlier = [](const KinetoSpan& a, const KinetoSpan& b) {
      return a.begin_us != b.begin_us ? a.begin_us < b.begin_us : a.duration_us > b.duration_us;
    };
    std::ranges::stable_sort(trace_.ops, earlier);
    std::ranges::stable_sort(trace_.modules, earlier);
    std::ranges::stable_sort(trace_.annotations, earlier);
    return trace_;
  }
  KinetoTrace& raw() { return trace_; }

 private:
  void op(const std::string& name, double duration, std::int64_t node) {
    trace_.ops.push_back({{name, kMain, now_, duration}, node, false, {}, {}});
    now_ += duration;
  }
  void op_inside(const std::string& name, double duration, std::int64_t node) {
    trace_.ops.push_back({{name, kMain, now_ - duration - 0.125, duration}, node, false, {}, {}});
  }
  void evaluate(const std::string& name, double duration, std::optional<std::int64_t> node) {
    trace_.ops.push_back(
        {{"autograd::engine::evaluate_function: " + name, backward_thread_, now_, duration},
         node,
         true,
         {},
         {}});
    now_ += duration;
  }

  KinetoTrace trace_;
  std::int32_t backward_thread_;
  double now_ = 1000;
  std::int64_t node_ = 50;
  std::vector<std::int64_t> first_node_;
};

const TraceWriter::Times kTimes{{4, 20, 22, 24, 30}, {8, 40, 44, 48, 60}};

std::vector<double> microseconds(const std::vector<TracedLayer>& layers,
                                 std::vector<Duration> TracedLayer::*times,
                                 std::size_t pass = 0) {
  std::vector<double> result;
  for (const TracedLayer& layer : layers) {
    result.push_back(to_seconds((layer.*times).at(pass)) * 1e6);
  }
  return result;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], wanted[i], 1e-6) << "layer " << i;
  }
}

TEST(TracedLayers, AddsUpOperationsOfTheHostByLayer) {
  TraceWriter writer;
  for (std::size_t step = 0; step < 3; ++step) {
    writer.forward(kTimes);
    writer.backward(step, kTimes);
    writer.optimizer();
  }
  const auto model = traced_layers(writer.trace(), 3, "", "t");
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  EXPECT_EQ(model->passes, 3U);
  EXPECT_EQ(model->block, "Block");
  EXPECT_FALSE(model->on_device);
  EXPECT_EQ(model->layers[1].name, "Block_0");
  for (std::size_t pass = 0; pass < 3; ++pass) {
    expect_near(microseconds(model->layers, &TracedLayer::forward, pass), {4, 20, 22, 24, 32});
    expect_near(microseconds(model->layers, &TracedLayer::backward, pass), {8, 40, 44, 48, 61});
  }
}

TEST(TracedLayers, FollowsSequenceNumbersWhereSeveralPassesAreUnderWay) {
  TraceWriter writer;
  TraceWriter::Times other = kTimes;
  for (double& time : other.backward) {
    time *= 2;
  }
  writer.forward(kTimes);
  writer.forward(other);
  writer.backward(0, kTimes);
  writer.backward(1, other);
  const auto model = traced_layers(writer.trace(), 3, "", "t");
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  expect_near(microseconds(model->layers, &TracedLayer::forward, 1), {4, 20, 22, 24, 32});
  expect_near(microseconds(model->layers, &TracedLayer::backward, 0), {8, 40, 44, 48, 61});
  expect_near(microseconds(model->layers, &TracedLayer::backward, 1), {16, 80, 88, 96, 121});
}

TEST(TracedLayers, FindsTheMakerOfANodeWhereInnerOperationsAreMissing) {
  TraceWriter writer;
  writer.forward(kTimes);
  writer.backward(0, kTimes);
  KinetoTrace trace = writer.trace();
  // As if each layer's operation had made two nodes, the second in an operation that is not there.
  for (KinetoOp& op : trace.ops) {
    if (op.sequence) {
      *op.sequence = 2 * *op.sequence + (op.backward ? 1 : 0);
    }
  }
  const auto model = traced_layers(trace, 3, "", "t");
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  expect_near(microseconds(model->layers, &TracedLayer::backward), {8, 40, 44, 48, 61});
}

TEST(TracedLayers, CountsKernelsWhereThereAreSome) {
  TraceWriter writer(kAutograd);
  writer.forward(kTimes);
  writer.backward(0, kTimes);
  writer.optimizer();
  writer.launch_from_all();
  const auto model = traced_layers(writer.trace(), 3, "", "t");
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  EXPECT_TRUE(model->on_device);
  expect_near(microseconds(model->layers, &TracedLayer::forward), {40, 200, 220, 240, 320});
  expect_near(microseconds(model->layers, &TracedLayer::backward), {80, 400, 440, 480, 610});
}

TEST(TracedLayers, TakesNamedRangesForBlocksToo) {
  TraceWriter writer;
  writer.forward(kTimes);
  writer.backward(0, kTimes);
  KinetoTrace trace = writer.trace();
  for (const KinetoSpan& module : trace.modules) {
    if (module.name.starts_with("Block_")) {
      KinetoSpan range = module;
      range.name = "layer " + module.name.substr(6) + " of the model";
      trace.annotations.push_back(range);
    }
  }
  trace.modules.clear();
  const auto model = traced_layers(trace, 3, "", "t");
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  EXPECT_EQ(model->block, "layer # of the model");
  expect_near(microseconds(model->layers, &TracedLayer::forward), {4, 20, 22, 24, 32});
}

TEST(TracedLayers, TakesTheClassThatIsNamed) {
  TraceWriter writer;
  writer.forward(kTimes);
  writer.backward(0, kTimes);
  const auto model = traced_layers(writer.trace(), 3, "Linear", "t");
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  EXPECT_EQ(model->block, "Linear");
}

TEST(TracedLayers, LeavesOutPassesThatAreNotWhole) {
  TraceWriter writer;
  writer.forward(kTimes);
  writer.backward(0, kTimes);
  writer.forward(kTimes);  // and the trace ends
  const auto model = traced_layers(writer.trace(), 3, "", "t");
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  EXPECT_EQ(model->passes, 1U);
}

TEST(TracedLayers, ReadsShapesAndPrecision) {
  TraceWriter writer;
  writer.forward(kTimes);
  writer.backward(0, kTimes);
  KinetoTrace trace = writer.trace();
  trace.ops[0].name = "aten::embedding";
  trace.ops[0].input_dims = {{1000, 64}, {3, 16}, {}};
  for (KinetoOp& op : trace.ops) {
    if (op.name == "aten::addmm") {
      op.input_types = {"float", "c10::BFloat16", "c10::BFloat16"};
    }
  }
  const auto model = traced_layers(trace, 3, "", "t");
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  EXPECT_EQ(model->vocabulary, 1000);
  EXPECT_EQ(model->batch, 3);
  EXPECT_EQ(model->sequence, 16);
  EXPECT_EQ(model->precision, DType::kBFloat16);
}

TEST(TracedLayers, SaysWhatIsMissing) {
  TraceWriter writer;
  writer.forward(kTimes);
  const auto error = [&](std::size_t blocks, const std::string& block = "") {
    const auto model = traced_layers(writer.trace(), blocks, block, "t");
    return model ? std::string("no error") : model.error().to_string();
  };
  EXPECT_NE(error(3).find("of none all blocks go backward"), std::string::npos) << error(3);
  EXPECT_NE(error(7).find("no whole pass through 7 blocks: it has 3 of 'Linear', 3 of 'Block'"),
            std::string::npos)
      << error(7);
  EXPECT_NE(error(3, "Layer").find("3 blocks called 'Layer'"), std::string::npos);
  for (KinetoOp& op : writer.raw().ops) {
    op.sequence.reset();
  }
  EXPECT_NE(error(3).find("no sequence numbers"), std::string::npos) << error(3);
  writer.raw().modules.clear();
  EXPECT_NE(error(3).find("with_stack=True"), std::string::npos) << error(3);
}

}  // namespace
}  // namespace stagewright
