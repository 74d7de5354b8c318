#include "runtime/compute/cudnn_attention.h"

#include <cmath>
#include <cstdint>
#include <ostream>
#include <vector>

#include <gmock/gmock.h>

#include "runtime/backend_error.h"
#include "runtime/compute/kernels/convert.h"
#include "standin_library.h"

namespace stagewright {
namespace {

using testing::HasSubstr;

/// Values from -1 to 1 that bf16 holds.
[[nodiscard]] std::vector<float> values(std::size_t count, std::uint32_t seed) {
  std::vector<float> made(count);
  for (float& value : made) {
    seed = seed * 1664525U + 1013904223U;
    value = kernels::from_bfloat16(
        kernels::to_bfloat16(static_cast<float>(seed >> 8U) / (1U << 23U) - 1.0F));
  }
  return made;
}

/// Memory of the stand-in's device that holds bf16.
class DeviceTensor {
 public:
  DeviceTensor(const CudaQueue& queue, std::size_t elements, std::size_t width)
      : elements_(elements),
        memory_(queue.allocate(Bytes(static_cast<std::int64_t>(elements * width)))) {}

  void put(const std::vector<float>& from) {
    auto* to = reinterpret_cast<std::uint16_t*>(memory_->data());
    for (std::size_t i = 0; i < elements_; ++i) {
      to[i] = kernels::to_bfloat16(from[i]);
    }
  }
  [[nodiscard]] std::vector<float> narrow() const {
    std::vector<float> read(elements_);
    for (std::size_t i = 0; i < elements_; ++i) {
      read[i] = kernels::from_bfloat16(reinterpret_cast<std::uint16_t*>(memory_->data())[i]);
    }
    return read;
  }
  [[nodiscard]] std::vector<float> wide() const {
    const auto* from = reinterpret_cast<float*>(memory_->data());
    return {from, from + elements_};
  }
  [[nodiscard]] void* data() const { return memory_->data(); }

 private:
  std::size_t elements_;
  std::unique_ptr<DeviceMemory> memory_;
};

void expect_near(const std::vector<float>& actual,
                 const std::vector<float>& expected,
                 float tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
  }
}

class CudnnAttentionShapes : public testing::TestWithParam<kernels::AttentionShape> {};

// The graphs as the stand-in computes them, against the kernels of the CPU on the same numbers.
TEST_P(CudnnAttentionShapes, GiveTheResultsAndGradientsOfTheCpu) {
  configure_standins({});
  const kernels::AttentionShape& s = GetParam();
  const auto tokens = static_cast<std::size_t>(s.batch * s.sequence);
  const std::size_t packed =
      tokens * static_cast<std::size_t>((s.heads + 2 * s.kv_heads) * s.head_dim);
  const std::size_t own = tokens * static_cast<std::size_t>(s.heads * s.head_dim);
  const std::size_t rows = tokens * static_cast<std::size_t>(s.heads);
  const std::vector<float> qkv = values(packed, 1);
  const std::vector<float> doutput = values(own, 2);

  std::vector<float> output(own);
  std::vector<float> log_sum_exp(rows);
  std::vector<float> dqkv(packed);
  std::vector<float> workspace(
      static_cast<std::size_t>(kernels::attention_backward_workspace(s).count()) / sizeof(float));
  kernels::attention_forward({.shape = s,
                              .qkv = qkv.data(),
                              .output = output.data(),
                              .log_sum_exp = log_sum_exp.data(),
                              .workspace = workspace.data()});
  kernels::attention_backward({.shape = s,
                               .qkv = qkv.data(),
                               .output = output.data(),
                               .log_sum_exp = log_sum_exp.data(),
                               .doutput = doutput.data(),
                               .dqkv = dqkv.data(),
                               .workspace = workspace.data()});

  const CudaQueue queue(load_cuda(standin_cuda_file()).value(), 0);
  CudaScratch scratch(queue);
  const auto attention = make_fused_attention(queue, scratch, standin_cudnn_file()).value();
  DeviceTensor on_qkv(queue, packed, 2);
  DeviceTensor on_doutput(queue, own, 2);
  DeviceTensor on_output(queue, own, 2);
  DeviceTensor on_statistics(queue, rows, 4);
  DeviceTensor on_dqkv(queue, packed, 2);
  on_qkv.put(qkv);
  on_doutput.put(doutput);

  Operation op;
  op.kind = OpKind::kAttentionForward;
  op.causal = s.causal;
  op.shape.batch = s.batch;
  op.shape.sequence = s.sequence;
  op.shape.heads = s.heads;
  op.shape.kv_heads = s.kv_heads;
  op.shape.head_dim = s.head_dim;
  const OperandType narrow{DType::kBFloat16, 0};
  const OperandType wide{DType::kFloat32, 0};
  const std::vector<void*> in = {on_qkv.data()};
  const std::vector<void*> out = {on_output.data(), on_statistics.data()};
  EXPECT_TRUE(attention->run({.operation = &op,
                              .inputs = in,
                              .outputs = out,
                              .input_types = std::vector{narrow},
                              .output_types = std::vector{narrow, wide}}));
  scratch.begin_operation();
  Operation back = op;
  back.kind = OpKind::kAttentionBackward;
  const std::vector<void*> back_in = {
      on_doutput.data(), on_qkv.data(), on_output.data(), on_statistics.data()};
  const std::vector<void*> back_out = {on_dqkv.data()};
  EXPECT_TRUE(attention->run({.operation = &back,
                              .inputs = back_in,
                              .outputs = back_out,
                              .input_types = std::vector{narrow, narrow, narrow, wide},
                              .output_types = std::vector{narrow}}));
  queue.synchronize();
  EXPECT_EQ(problems_of_standins(), "");
  expect_near(on_output.narrow(), output, 0.02F);
  expect_near(on_statistics.wide(), log_sum_exp, 1e-4F);
  expect_near(on_dqkv.narrow(), dqkv, 0.03F);
}

INSTANTIATE_TEST_SUITE_P(
    Standin,
    CudnnAttentionShapes,
    testing::Values(
        kernels::AttentionShape{
            .batch = 2, .sequence = 16, .heads = 2, .kv_heads = 2, .head_dim = 8, .causal = true},
        kernels::AttentionShape{
            .batch = 1, .sequence = 21, .heads = 4, .kv_heads = 2, .head_dim = 16, .causal = true},
        kernels::AttentionShape{
            .batch = 2, .sequence = 16, .heads = 4, .kv_heads = 1, .head_dim = 8, .causal = false},
        kernels::AttentionShape{
            .batch = 1, .sequence = 1, .heads = 1, .kv_heads = 1, .head_dim = 8, .causal = true}),
    [](const auto& chosen) {
      const kernels::AttentionShape& s = chosen.param;
      return "b" + std::to_string(s.batch) + "_s" + std::to_string(s.sequence) + "_h" +
             std::to_string(s.heads) + "_g" + std::to_string(s.kv_heads) + "_d" +
             std::to_string(s.head_dim) + (s.causal ? "_causal" : "_full");
    });

[[nodiscard]] std::string refused(std::int64_t head_dim,
                                  std::int64_t sequence,
                                  std::size_t version) {
  return refusal({.shape = {.batch = 1,
                            .sequence = sequence,
                            .heads = 2,
                            .kv_heads = 2,
                            .head_dim = head_dim,
                            .causal = true}},
                 version)
      .value_or("");
}

TEST(CudnnAttention, NamesWhatItIsNotAskedFor) {
  EXPECT_EQ(refused(64, 1024, 91900), "");
  EXPECT_EQ(refused(128, 100, 91900), "");
  EXPECT_THAT(refused(64, 1024, 90800), HasSubstr("older than 9.10"));
  EXPECT_THAT(refused(12, 1024, 91900), HasSubstr("heads of 12"));
  EXPECT_THAT(refused(256, 1024, 91900), HasSubstr("heads of 256"));
  EXPECT_THAT(refused(64, 100, 91400), HasSubstr("sequences of 100"));
  EXPECT_EQ(refused(64, 1024, 91400), "");
}

TEST(CudnnGraphs, TheStandinRefusesWhatCudnnWould) {
  configure_standins({});
  const auto cudnn = load_cudnn(standin_cudnn_file()).value();
  CudnnDescriptor tensor(cudnn, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  EXPECT_THROW(tensor.finalize(), BackendError);
  EXPECT_THAT(problems_of_standins(), HasSubstr("lacks attribute"));

  cudnnHandle_t handle = nullptr;
  ASSERT_EQ(cudnn->cudnnCreate(&handle), CUDNN_STATUS_SUCCESS);
  CudnnGraph graph(cudnn);
  const CudnnTensor x = graph.in_memory(CUDNN_DATA_FLOAT, {1, 1, 2, 2}, {4, 4, 2, 1});
  const CudnnTensor y = graph.in_memory(CUDNN_DATA_FLOAT, {1, 1, 2, 2}, {4, 4, 2, 1});
  const CudnnTensor never = graph.passing(CUDNN_DATA_FLOAT, {1, 1, 2, 2});
  graph.pointwise(CUDNN_POINTWISE_ADD, x, never, y);
  EXPECT_THROW((void)std::move(graph).plan({.handle = handle}), BackendError);
  EXPECT_THAT(problems_of_standins(), HasSubstr("is read before it is written"));

  CudnnGraph copies(cudnn);
  const CudnnTensor from = copies.in_memory(CUDNN_DATA_FLOAT, {1, 1, 2, 2}, {4, 4, 2, 1});
  const CudnnTensor to = copies.in_memory(CUDNN_DATA_FLOAT, {1, 1, 2, 2}, {4, 4, 2, 1});
  copies.pointwise(CUDNN_POINTWISE_IDENTITY, from, to);
  auto plan = std::move(copies).plan({.handle = handle}).value();
  const CudaQueue queue(load_cuda(standin_cuda_file()).value(), 0);
  ASSERT_EQ(cudnn->cudnnSetStream(handle, queue.stream()), CUDNN_STATUS_SUCCESS);
  const auto memory = queue.allocate(Bytes(64));
  const auto workspace = queue.allocate(Bytes(static_cast<std::int64_t>(plan.workspace())));
  const auto run = [&](std::vector<CudnnPlan::Place> places, void* with) {
    plan.run(cudnn, handle, places, with);
  };
  EXPECT_THROW(run({{from.id, memory->data()}}, workspace->data()), BackendError);
  EXPECT_THAT(problems_of_standins(), HasSubstr("a run without a place for tensor 2"));
  EXPECT_THROW(run({{from.id, memory->data()}, {to.id, memory->data() + 4}}, workspace->data()),
               BackendError);
  EXPECT_THAT(problems_of_standins(), HasSubstr("tensor 2 is not aligned to 16 bytes"));
  EXPECT_THROW(run({{from.id, memory->data()}, {to.id, memory->data() + 16}}, memory->data()),
               BackendError);
  EXPECT_THAT(problems_of_standins(), HasSubstr("the workspace of cudnnBackendExecute"));
  run({{from.id, memory->data()}, {to.id, memory->data() + 16}}, workspace->data());
  queue.synchronize();
  EXPECT_EQ(cudnn->cudnnDestroy(handle), CUDNN_STATUS_SUCCESS);
}

}  // namespace
}  // namespace stagewright
