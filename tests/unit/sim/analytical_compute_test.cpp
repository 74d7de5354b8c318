#include "sim/cost/analytical_compute.h"

#include <gtest/gtest.h>

#include "test_devices.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;
using test::round_device;

Operation gemm(std::int64_t rows, std::int64_t cols, std::int64_t inner, DType dtype) {
  Operation op;
  op.kind = OpKind::kGemm;
  op.dtype = dtype;
  op.shape.rows = rows;
  op.shape.cols = cols;
  op.shape.inner = inner;
  return op;
}

// 2 * 1000 * 1000 * (872 + 128) = 2e9 FLOPs at 100 TFLOP/s = 20 us; the operands, 2.744 MB * 2 B at
// 1 TB/s = 5.5 us, are done by then.
TEST(AnalyticalCompute, LargeGemmIsBoundByTheMatrixUnits) {
  EXPECT_EQ(compute_time(gemm(1000, 1000, 872, DType::kBFloat16), round_device()), Duration(20us));
}

// One row against a 1000 x 872 matrix: 0.02 us of work, 2 * (872 + 872000 + 1000) B = 1.747744 us.
TEST(AnalyticalCompute, SkinnyGemmIsBoundByMemory) {
  EXPECT_EQ(compute_time(gemm(1, 1000, 872, DType::kBFloat16), round_device()),
            Duration(1'747'744));
}

TEST(AnalyticalCompute, EfficiencyAndKernelOverheadOfTheDeviceCount) {
  DeviceType device = round_device();
  device.efficiency[OpClass::kMatrix] = 0.5;
  device.kernel_overhead = 3us;
  EXPECT_EQ(compute_time(gemm(1000, 1000, 872, DType::kBFloat16), device), Duration(43us));
}

// Twice the depth of the product is less than twice the time: (256 + 128) / (128 + 128) = 1.5.
TEST(AnalyticalCompute, ShortInnerDimensionsRunAtALowerRate) {
  const DeviceType device = round_device();
  const Duration half = compute_time(gemm(4096, 4096, 128, DType::kBFloat16), device);
  const Duration whole = compute_time(gemm(4096, 4096, 256, DType::kBFloat16), device);
  EXPECT_NEAR(to_seconds(whole) / to_seconds(half), 1.5, 1e-6);
}

TEST(AnalyticalCompute, MissingElementTypeRunsAsTheNextWiderOne) {
  const DeviceType device = round_device();
  EXPECT_EQ(matrix_peak(device, DType::kFloat8), 100_TFLOPS);
  EXPECT_EQ(matrix_peak(device, DType::kFloat16), 100_TFLOPS);
  EXPECT_EQ(matrix_peak(device, DType::kTf32), 10_TFLOPS);
  EXPECT_EQ(matrix_peak(device, DType::kFloat32), 10_TFLOPS);
  EXPECT_EQ(matrix_peak(DeviceType{}, DType::kFloat32), FlopsPerSecond(0));
}

Operation attention(OpKind kind) {
  Operation op;
  op.kind = kind;
  op.dtype = DType::kBFloat16;
  op.causal = true;
  op.shape.batch = 1;
  op.shape.sequence = 2100;
  op.shape.heads = 10;
  op.shape.kv_heads = 10;
  op.shape.head_dim = 100;
  op.shape.rows = 2100;
  return op;
}

// Causal forward: 2 * 10 * 2100^2 * 100 = 8.82e9 FLOPs, at (2100 + 700) / 2100 = 4/3 of the time:
// 117.6 us.  Backward: five products for two, 2.5 times as long.
TEST(AnalyticalCompute, AttentionFollowsTheSequenceLength) {
  EXPECT_EQ(compute_time(attention(OpKind::kAttentionForward), round_device()),
            Duration(117'600ns));
  EXPECT_EQ(compute_time(attention(OpKind::kAttentionBackward), round_device()),
            Duration(294'000ns));
}

// 3 * 1e6 elements of 4 B at 1 TB/s * 0.8.
TEST(AnalyticalCompute, ElementWiseOperationsAreBoundByMemory) {
  Operation op;
  op.kind = OpKind::kAdd;
  op.shape.rows = 1000;
  op.shape.cols = 1000;
  DeviceType device = round_device();
  device.efficiency[OpClass::kMemory] = 0.8;
  device.efficiency[OpClass::kMatrix] = 0.1;
  EXPECT_EQ(compute_time(op, device), Duration(15us));
}

}  // namespace
}  // namespace stagewright
