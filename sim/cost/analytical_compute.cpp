#include "sim/cost/analytical_compute.h"

#include <algorithm>
#include <span>

#include "core/base/check.h"
#include "sim/cost/product_sizes.h"
#include "sim/cost/tile_fill.h"

namespace stagewright {
namespace {

/// Sequence length at which flash attention reaches half of its rate: the forward rates that
/// FlashAttention-2 (Dao 2023, figures 5 and 6) reports follow r(s) = r0 s / (s + 700).
constexpr double kAttentionHalfLength = 700;

/// Flash attention's backward recomputes the scores: five products where the mathematics needs
/// four (Dao 2023, section 4.1).
constexpr double kScoreRecompute = 1.25;

double efficiency(const DeviceType& device, OpClass op_class) {
  const auto found = device.efficiency.find(op_class);
  return found == device.efficiency.end() ? 1.0 : found->second;
}

/// Element types to try in order when the first is not in the device file.
std::span<const DType> wider(DType type) {
  static constexpr DType kFrom8[] = {
      DType::kFloat8, DType::kBFloat16, DType::kFloat16, DType::kTf32, DType::kFloat32};
  static constexpr DType kFromBrain16[] = {
      DType::kBFloat16, DType::kFloat16, DType::kTf32, DType::kFloat32};
  static constexpr DType kFrom16[] = {
      DType::kFloat16, DType::kBFloat16, DType::kTf32, DType::kFloat32};
  static constexpr DType kFromTf32[] = {DType::kTf32, DType::kFloat32};
  static constexpr DType kFrom32[] = {DType::kFloat32};
  switch (type) {
    case DType::kFloat8:
      return kFrom8;
    case DType::kBFloat16:
      return kFromBrain16;
    case DType::kFloat16:
      return kFrom16;
    case DType::kTf32:
      return kFromTf32;
    case DType::kFloat32:
    case DType::kInt32:
      return kFrom32;
  }
  SW_CHECK(false, "a listed element type");
}

double memory_seconds(const Operation& op, const DeviceType& device, OpClass op_class) {
  const double rate = device.memory_bandwidth.count() * efficiency(device, op_class);
  SW_CHECK(rate > 0, "a device with a memory bandwidth");
  return static_cast<double>(bytes_moved(op).count()) / rate;
}

/// `work` on the matrix units, or the operands' way through memory, whichever takes longer.
double roofline_seconds(const Operation& op,
                        const DeviceType& device,
                        OpClass op_class,
                        Flops work) {
  const double rate = matrix_peak(device, op.dtype).count() * efficiency(device, op_class);
  const double matrix = rate > 0 ? work.count() / rate : 0.0;
  return std::max(matrix, memory_seconds(op, device, OpClass::kMemory));
}

Flops attention_work(const Operation& op) {
  const auto sequence = static_cast<double>(op.shape.sequence);
  const double roll_off = (sequence + kAttentionHalfLength) / sequence;
  const double recompute = op.kind == OpKind::kAttentionBackward ? kScoreRecompute : 1.0;
  return flops_of(op) * (roll_off * recompute);
}

double busy_seconds(const Operation& op, const DeviceType& device) {
  const OpClass op_class = class_of(op.kind);
  switch (op_class) {
    case OpClass::kMatrix: {
      const double inner = product_sizes(op).inner;
      return roofline_seconds(op, device, op_class, flops_of(op) * ((inner + kTileFill) / inner));
    }
    case OpClass::kAttention:
      return roofline_seconds(op, device, op_class, attention_work(op));
    case OpClass::kMemory:
    case OpClass::kOptimizer:
      return memory_seconds(op, device, op_class);
    case OpClass::kCollective:
      break;
  }
  SW_CHECK(false, "an operation that computes");
}

}  // namespace

FlopsPerSecond matrix_peak(const DeviceType& device, DType type) {
  for (const DType candidate : wider(type)) {
    if (const auto found = device.peak.find(candidate); found != device.peak.end()) {
      return found->second;
    }
  }
  return FlopsPerSecond(0);
}

Duration compute_time(const Operation& op, const DeviceType& device) {
  return from_seconds(busy_seconds(op, device)) + device.kernel_overhead;
}

}  // namespace stagewright
