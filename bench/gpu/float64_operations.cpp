#include "float64_operations.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/check.h"
#include "float64_call.h"

namespace stagewright::gpu_check {

namespace {

void gemm(Call& call) {
  for (Index i = 0; i < call.rows; ++i) {
    for (Index j = 0; j < call.cols; ++j) {
      double sum = call.in.size() > 2 ? call.in[2][j] : 0.0;
      for (Index k = 0; k < call.inner; ++k) {
        const double a =
            call.op.transpose_a ? call.in[0][k * call.rows + i] : call.in[0][i * call.inner + k];
        const double b =
            call.op.transpose_b ? call.in[1][j * call.inner + k] : call.in[1][k * call.cols + j];
        sum += a * b;
      }
      double& c = call.out[0][i * call.cols + j];
      c = call.op.accumulate ? c + sum : sum;
    }
  }
}

void column_sum(Call& call) {
  for (Index i = 0; i < call.rows * call.cols; ++i) {
    call.out[0][i % call.cols] += call.in[0][i];
  }
}

/// Mean (0 of RMS norm) and 1 / deviation of a row.
struct RowStatistics {
  double mean = 0;
  double rstd = 0;
};

[[nodiscard]] RowStatistics statistics_of(const Call& call, const Doubles& x, Index row) {
  const double* at = x.data() + row * call.cols;
  const auto width = static_cast<double>(call.cols);
  RowStatistics of;
  if (call.op.variant == OpVariant::kLayerNorm) {
    for (Index i = 0; i < call.cols; ++i) {
      of.mean += at[i] / width;
    }
  }
  double variance = 0;
  for (Index i = 0; i < call.cols; ++i) {
    variance += (at[i] - of.mean) * (at[i] - of.mean) / width;
  }
  of.rstd = 1.0 / std::sqrt(variance + call.op.scalar);
  return of;
}

void norm_forward(Call& call) {
  const bool layer = call.op.variant == OpVariant::kLayerNorm;
  for (Index r = 0; r < call.rows; ++r) {
    const RowStatistics of = statistics_of(call, call.in[0], r);
    for (Index i = 0; i < call.cols; ++i) {
      const double normal = (call.in[0][r * call.cols + i] - of.mean) * of.rstd;
      call.out[0][r * call.cols + i] = normal * call.in[1][i] + (layer ? call.in[2][i] : 0.0);
    }
    if (layer) {
      call.out[1][r] = of.mean;
    }
    call.out[1][layer ? call.rows + r : r] = of.rstd;
  }
}

[[nodiscard]] RowStatistics saved_statistics(const Call& call, const Doubles& saved, Index row) {
  return call.op.variant == OpVariant::kLayerNorm
             ? RowStatistics{saved[row], saved[call.rows + row]}
             : RowStatistics{0.0, saved[row]};
}

void norm_input_gradient(Call& call) {
  const auto width = static_cast<double>(call.cols);
  const bool layer = call.op.variant == OpVariant::kLayerNorm;
  for (Index r = 0; r < call.rows; ++r) {
    const RowStatistics of = saved_statistics(call, call.in[3], r);
    double sum = 0;
    double dot = 0;
    for (Index i = 0; i < call.cols; ++i) {
      const double g = call.in[0][r * call.cols + i] * call.in[2][i];
      sum += g / width;
      dot += g * (call.in[1][r * call.cols + i] - of.mean) * of.rstd / width;
    }
    for (Index i = 0; i < call.cols; ++i) {
      const double g = call.in[0][r * call.cols + i] * call.in[2][i];
      const double normal = (call.in[1][r * call.cols + i] - of.mean) * of.rstd;
      call.out[0][r * call.cols + i] = of.rstd * (g - (layer ? sum : 0.0) - normal * dot);
    }
  }
}

void norm_parameter_gradient(Call& call) {
  for (Index r = 0; r < call.rows; ++r) {
    const RowStatistics of = saved_statistics(call, call.in[2], r);
    for (Index i = 0; i < call.cols; ++i) {
      const double dy = call.in[0][r * call.cols + i];
      call.out[0][i] += dy * (call.in[1][r * call.cols + i] - of.mean) * of.rstd;
      if (call.out.size() > 1) {
        call.out[1][i] += dy;
      }
    }
  }
}

void rope(Call& call) {
  const OpShape& shape = call.op.shape;
  const auto dim = static_cast<Index>(shape.head_dim);
  const auto heads = static_cast<Index>(shape.heads + shape.kv_heads);
  const Index stride = (heads + static_cast<Index>(shape.kv_heads)) * dim;
  const double direction = call.op.kind == OpKind::kRopeForward ? 1.0 : -1.0;
  call.out[0] = call.in[0];
  for (Index r = 0; r < call.rows; ++r) {
    const auto position = static_cast<double>(r % static_cast<Index>(shape.sequence));
    for (Index h = 0; h < heads; ++h) {
      for (Index i = 0; i < dim / 2; ++i) {
        const double angle =
            direction * position *
            std::pow(call.op.scalar, -2.0 * static_cast<double>(i) / static_cast<double>(dim));
        double& low = call.out[0][r * stride + h * dim + i];
        double& high = call.out[0][r * stride + h * dim + i + dim / 2];
        const double a = low;
        low = a * std::cos(angle) - high * std::sin(angle);
        high = high * std::cos(angle) + a * std::sin(angle);
      }
    }
  }
}

/// Value and derivative.
struct Curve {
  double value = 0;
  double slope = 0;
};

[[nodiscard]] Curve gelu(double x) {
  const double c = std::sqrt(2.0 / std::numbers::pi);
  const double t = std::tanh(c * (x + 0.044715 * x * x * x));
  return {0.5 * x * (1.0 + t),
          0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * c * (1.0 + 3.0 * 0.044715 * x * x)};
}

[[nodiscard]] Curve silu(double x) {
  const double s = 1.0 / (1.0 + std::exp(-x));
  return {x * s, s * (1.0 + x * (1.0 - s))};
}

[[nodiscard]] Curve activation(OpVariant variant, double x) {
  return variant == OpVariant::kGelu ? gelu(x) : Curve{std::max(x, 0.0), x > 0 ? 1.0 : 0.0};
}

void activation_forward(Call& call) {
  const bool gated = call.op.variant == OpVariant::kSwiGlu;
  for (Index r = 0; r < call.rows; ++r) {
    for (Index i = 0; i < call.cols; ++i) {
      const double* x = call.in[0].data() + r * call.cols * (gated ? 2 : 1);
      call.out[0][r * call.cols + i] =
          gated ? silu(x[i]).value * x[call.cols + i] : activation(call.op.variant, x[i]).value;
    }
  }
}

void activation_backward(Call& call) {
  const bool gated = call.op.variant == OpVariant::kSwiGlu;
  for (Index r = 0; r < call.rows; ++r) {
    for (Index i = 0; i < call.cols; ++i) {
      const Index at = r * call.cols * (gated ? 2 : 1) + i;
      const double dy = call.in[0][r * call.cols + i];
      const Doubles& x = call.in[1];
      if (gated) {
        const Curve gate = silu(x[at]);
        call.out[0][at] = dy * gate.slope * x[at + call.cols];
        call.out[0][at + call.cols] = dy * gate.value;
      } else {
        call.out[0][at] = dy * activation(call.op.variant, x[at]).slope;
      }
    }
  }
}

void add(Call& call) {
  for (Index i = 0; i < call.rows * call.cols; ++i) {
    call.out[0][i] =
        call.in[0][i] + call.in[1][i] + (call.in.size() > 2 ? call.in[2][i % call.cols] : 0.0);
  }
}

void embedding(Call& call) {
  for (Index r = 0; r < call.rows; ++r) {
    const auto token = static_cast<Index>(call.in[0][r]);
    for (Index i = 0; i < call.cols; ++i) {
      if (call.op.kind == OpKind::kEmbeddingForward) {
        call.out[0][r * call.cols + i] = call.in[1][token * call.cols + i];
      } else {
        call.out[0][token * call.cols + i] += call.in[1][r * call.cols + i];
      }
    }
  }
}

void position(Call& call) {
  const auto sequence = static_cast<Index>(call.op.shape.sequence);
  for (Index r = 0; r < call.rows; ++r) {
    for (Index i = 0; i < call.cols; ++i) {
      const Index at = r * call.cols + i;
      const Index row = (r % sequence) * call.cols + i;
      if (call.op.kind == OpKind::kPositionForward) {
        call.out[0][at] = call.in[0][at] + call.in[1][row];
      } else {
        call.out[0][row] += call.in[0][at];
      }
    }
  }
}

void loss_row_max(Call& call) {
  for (Index r = 0; r < call.rows; ++r) {
    const auto row = call.in[0].begin() + static_cast<std::ptrdiff_t>(r * call.cols);
    call.out[0][r] = *std::max_element(row, row + static_cast<std::ptrdiff_t>(call.cols));
  }
}

void loss_row_sum(Call& call) {
  for (Index r = 0; r < call.rows; ++r) {
    double sum = 0;
    for (Index i = 0; i < call.cols; ++i) {
      sum += std::exp(call.in[0][r * call.cols + i] - call.in[2][r]);
    }
    call.out[0][r] = sum;
    call.out[0][call.rows + r] = call.in[0][r * call.cols + static_cast<Index>(call.in[1][r])];
  }
}

void loss_finish(Call& call) {
  for (Index r = 0; r < call.rows; ++r) {
    call.out[0][0] +=
        call.op.scalar * (std::log(call.in[1][r]) + call.in[0][r] - call.in[1][call.rows + r]);
  }
}

void loss_gradient(Call& call) {
  for (Index r = 0; r < call.rows; ++r) {
    for (Index i = 0; i < call.cols; ++i) {
      const double p = std::exp(call.in[0][r * call.cols + i] - call.in[2][r]) / call.in[3][r];
      const double hot = static_cast<Index>(call.in[1][r]) == i ? 1.0 : 0.0;
      call.out[0][r * call.cols + i] = (p - hot) * call.op.scalar;
    }
  }
}

void columns(Call& call) {
  const auto begin = static_cast<Index>(call.op.index);
  for (Index r = 0; r < call.rows; ++r) {
    for (Index i = 0; i < call.cols; ++i) {
      const Index whole = r * call.inner + begin + i;
      const Index part = r * call.cols + i;
      if (call.op.kind == OpKind::kCopyColumns) {
        call.out[0][part] = call.in[0][whole];
      } else {
        call.out[0][whole] += call.in[0][part];
      }
    }
  }
}

void squared_sum(Call& call) {
  for (const double x : call.in[0]) {
    call.out[0][static_cast<Index>(call.op.index)] += call.op.scalar * x * x;
  }
}

void update(Call& call) {
  const OptimizerSpec& optimizer = call.optimizer;
  const double norm = std::sqrt(call.in[1][0]);
  const double scale =
      optimizer.clip_norm && norm > *optimizer.clip_norm ? *optimizer.clip_norm / norm : 1.0;
  const double decay = call.op.decay ? optimizer.weight_decay : 0.0;
  for (Index i = 0; i < call.in[0].size(); ++i) {
    double& p = call.out[0][i];
    const double g = call.in[0][i] * scale;
    double& m = call.out[1][i];
    if (call.op.kind == OpKind::kSgdStep) {
      m = optimizer.momentum * m + g + decay * p;
      p -= optimizer.learning_rate * m;
      continue;
    }
    double& v = call.out[2][i];
    m = optimizer.beta1 * m + (1 - optimizer.beta1) * g;
    v = optimizer.beta2 * v + (1 - optimizer.beta2) * g * g;
    const double first = m / (1 - optimizer.beta1);  // of step 1
    const double second = v / (1 - optimizer.beta2);
    p -= optimizer.learning_rate * (first / (std::sqrt(second) + optimizer.epsilon) + decay * p);
  }
}

void fill(Call& call) {
  std::fill(call.out[0].begin(), call.out[0].end(), call.op.scalar);
}

void copy(Call& call) {
  call.out[0] = call.in[0];
}

struct Definition {
  OpKind kind;
  void (*compute)(Call& call);
};
constexpr Definition kDefinitions[] = {
    {OpKind::kGemm, gemm},
    {OpKind::kColumnSum, column_sum},
    {OpKind::kNormForward, norm_forward},
    {OpKind::kNormInputGradient, norm_input_gradient},
    {OpKind::kNormParameterGradient, norm_parameter_gradient},
    {OpKind::kRopeForward, rope},
    {OpKind::kRopeBackward, rope},
    {OpKind::kAttentionForward, attention_forward},
    {OpKind::kAttentionBackward, attention_backward},
    {OpKind::kActivationForward, activation_forward},
    {OpKind::kActivationBackward, activation_backward},
    {OpKind::kAdd, add},
    {OpKind::kEmbeddingForward, embedding},
    {OpKind::kEmbeddingGradient, embedding},
    {OpKind::kPositionForward, position},
    {OpKind::kPositionGradient, position},
    {OpKind::kLossRowMax, loss_row_max},
    {OpKind::kLossRowSum, loss_row_sum},
    {OpKind::kLossFinish, loss_finish},
    {OpKind::kLossGradient, loss_gradient},
    {OpKind::kFill, fill},
    {OpKind::kCopy, copy},
    {OpKind::kCopyColumns, columns},
    {OpKind::kAddColumns, columns},
    {OpKind::kSquaredSum, squared_sum},
    {OpKind::kSgdStep, update},
    {OpKind::kAdamWStep, update},
};

}  // namespace

std::vector<Doubles> float64_result(const Operation& op,
                                    const std::vector<Doubles>& inputs,
                                    std::vector<Doubles> outputs,
                                    const OptimizerSpec& optimizer) {
  const auto* const definition = std::ranges::find(kDefinitions, op.kind, &Definition::kind);
  SW_CHECK(definition != std::end(kDefinitions), "an operation that kernel_cases.cpp lists");
  Call call{op, inputs, outputs, optimizer};
  definition->compute(call);
  return outputs;
}

}  // namespace stagewright::gpu_check
