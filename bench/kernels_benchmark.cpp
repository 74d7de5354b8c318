// The CPU kernels on the shapes of a GPT of 4 layers: width 256, 8 heads, 8
// sequences of 256 tokens, 4096 words.  One thread.
#include <cstdint>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "runtime/compute/attention.h"
#include "runtime/compute/kernels/activations.h"
#include "runtime/compute/kernels/bias.h"
#include "runtime/compute/kernels/cross_entropy.h"
#include "runtime/compute/kernels/element_wise.h"
#include "runtime/compute/kernels/embedding.h"
#include "runtime/compute/kernels/layer_norm.h"
#include "runtime/compute/kernels/optimizer.h"
#include "runtime/compute/kernels/random.h"
#include "runtime/compute/kernels/rms_norm.h"
#include "runtime/compute/kernels/rope.h"

namespace stagewright::kernels {
namespace {

using benchmark::Counter;
using benchmark::State;
using Floats = std::vector<float>;

constexpr Index kRows = 2048;
constexpr Index kWidth = 256;
constexpr Index kWords = 4096;

Floats numbers(Index count) {
  std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  Floats result(static_cast<std::size_t>(count));
  for (float& x : result) {
    x = normal(engine);
  }
  return result;
}

std::vector<std::int32_t> words(Index count) {
  std::mt19937 engine(1);
  std::vector<std::int32_t> result(static_cast<std::size_t>(count));
  for (std::int32_t& word : result) {
    word = static_cast<std::int32_t>(engine() % kWords);
  }
  return result;
}

void report_flops(State& state, double flops_per_call) {
  state.counters["flops"] =
      Counter(flops_per_call, Counter::kIsIterationInvariantRate, Counter::kIs1000);
}

// Floats that a call must read or write.
void report_traffic(State& state, Index floats) {
  state.SetBytesProcessed(state.iterations() * floats * static_cast<Index>(sizeof(float)));
}

void layer_norm(State& state) {
  const Floats x = numbers(kRows * kWidth);
  const Floats gamma = numbers(kWidth);
  Floats y(x.size());
  Floats mean(kRows);
  Floats rstd(kRows);
  for (auto _ : state) {
    layer_norm_forward({.x = x.data(),
                        .gamma = gamma.data(),
                        .beta = gamma.data(),
                        .y = y.data(),
                        .mean = mean.data(),
                        .rstd = rstd.data(),
                        .width = kWidth},
                       kRows);
  }
  report_traffic(state, 2 * kRows * kWidth);
}
BENCHMARK(layer_norm);

void layer_norm_dx(State& state) {
  const Floats x = numbers(kRows * kWidth);
  const Floats dy = numbers(kRows * kWidth);
  const Floats gamma = numbers(kWidth);
  const Floats mean(kRows, 0.0F);
  const Floats rstd(kRows, 1.0F);
  Floats dx(x.size());
  for (auto _ : state) {
    layer_norm_input_gradient({.x = x.data(),
                               .gamma = gamma.data(),
                               .mean = mean.data(),
                               .rstd = rstd.data(),
                               .dy = dy.data(),
                               .residual = dx.data(),
                               .dx = dx.data(),
                               .width = kWidth},
                              kRows);
  }
  report_traffic(state, 4 * kRows * kWidth);
}
BENCHMARK(layer_norm_dx);

void layer_norm_parameters(State& state) {
  const Floats x = numbers(kRows * kWidth);
  const Floats dy = numbers(kRows * kWidth);
  const Floats mean(kRows, 0.0F);
  const Floats rstd(kRows, 1.0F);
  Floats dgamma(kWidth);
  Floats dbeta(kWidth);
  for (auto _ : state) {
    layer_norm_parameter_gradient({.x = x.data(),
                                   .mean = mean.data(),
                                   .rstd = rstd.data(),
                                   .dy = dy.data(),
                                   .dgamma = dgamma.data(),
                                   .dbeta = dbeta.data(),
                                   .width = kWidth},
                                  kRows);
  }
  report_traffic(state, 3 * kRows * kWidth);
}
BENCHMARK(layer_norm_parameters);

void rms_norm(State& state) {
  const Floats x = numbers(kRows * kWidth);
  const Floats gamma = numbers(kWidth);
  Floats y(x.size());
  Floats rstd(kRows);
  for (auto _ : state) {
    rms_norm_forward(
        {.x = x.data(), .gamma = gamma.data(), .y = y.data(), .rstd = rstd.data(), .width = kWidth},
        kRows);
  }
  report_traffic(state, 2 * kRows * kWidth);
}
BENCHMARK(rms_norm);

void rms_norm_dx(State& state) {
  const Floats x = numbers(kRows * kWidth);
  const Floats dy = numbers(kRows * kWidth);
  const Floats gamma = numbers(kWidth);
  const Floats rstd(kRows, 1.0F);
  Floats dx(x.size());
  for (auto _ : state) {
    rms_norm_input_gradient({.x = x.data(),
                             .gamma = gamma.data(),
                             .rstd = rstd.data(),
                             .dy = dy.data(),
                             .residual = nullptr,
                             .dx = dx.data(),
                             .width = kWidth},
                            kRows);
  }
  report_traffic(state, 3 * kRows * kWidth);
}
BENCHMARK(rms_norm_dx);

void gelu(State& state) {
  const Index count = kRows * 4 * kWidth;
  const Floats x = numbers(count);
  Floats y(x.size());
  for (auto _ : state) {
    gelu_forward({.x = x.data(), .y = y.data()}, count);
  }
  report_traffic(state, 2 * count);
}
BENCHMARK(gelu);

void gelu_dx(State& state) {
  const Index count = kRows * 4 * kWidth;
  const Floats x = numbers(count);
  const Floats dy = numbers(count);
  Floats dx(x.size());
  for (auto _ : state) {
    gelu_backward({.x = x.data(), .dy = dy.data(), .dx = dx.data()}, count);
  }
  report_traffic(state, 3 * count);
}
BENCHMARK(gelu_dx);

void swiglu(State& state) {
  const Floats x = numbers(kRows * 8 * kWidth);
  Floats y(x.size() / 2);
  for (auto _ : state) {
    swiglu_forward({.x = x.data(), .y = y.data(), .width = 4 * kWidth}, kRows);
  }
  report_traffic(state, 12 * kRows * kWidth);
}
BENCHMARK(swiglu);

void swiglu_dx(State& state) {
  const Floats x = numbers(kRows * 8 * kWidth);
  const Floats dy = numbers(kRows * 4 * kWidth);
  Floats dx(x.size());
  for (auto _ : state) {
    swiglu_backward({.x = x.data(), .dy = dy.data(), .dx = dx.data(), .width = 4 * kWidth}, kRows);
  }
  report_traffic(state, 20 * kRows * kWidth);
}
BENCHMARK(swiglu_dx);

void bias_residual(State& state) {
  const Floats x = numbers(kRows * kWidth);
  const Floats bias = numbers(kWidth);
  Floats y(x.size());
  for (auto _ : state) {
    add_bias_residual(
        {.x = y.data(), .bias = bias.data(), .residual = x.data(), .y = y.data(), .width = kWidth},
        kRows);
  }
  report_traffic(state, 3 * kRows * kWidth);
}
BENCHMARK(bias_residual);

void bias_gradient(State& state) {
  const Floats dy = numbers(kRows * 4 * kWidth);
  Floats sum(4 * kWidth);
  for (auto _ : state) {
    column_sum({.x = dy.data(), .sum = sum.data(), .width = 4 * kWidth}, kRows);
  }
  report_traffic(state, 4 * kRows * kWidth);
}
BENCHMARK(bias_gradient);

void residual_add(State& state) {
  const Floats a = numbers(kRows * kWidth);
  const Floats b = numbers(kRows * kWidth);
  Floats y(a.size());
  for (auto _ : state) {
    add({.a = a.data(), .b = b.data(), .y = y.data()}, kRows * kWidth);
  }
  report_traffic(state, 3 * kRows * kWidth);
}
BENCHMARK(residual_add);

void rope(State& state) {
  Floats qkv = numbers(kRows * 3 * kWidth);
  for (auto _ : state) {
    rope_forward({.qkv = qkv.data(), .heads = 8, .kv_heads = 8, .head_dim = 32, .sequence = 256},
                 kRows);
  }
  report_traffic(state, 4 * kRows * kWidth);
}
BENCHMARK(rope);

void embedding(State& state) {
  const auto tokens = words(kRows);
  const Floats table = numbers(kWords * kWidth);
  Floats y(kRows * kWidth);
  for (auto _ : state) {
    embedding_forward({.tokens = tokens.data(),
                       .table = table.data(),
                       .y = y.data(),
                       .width = kWidth,
                       .vocab_begin = 0,
                       .vocab_rows = kWords},
                      kRows);
  }
  report_traffic(state, 2 * kRows * kWidth);
}
BENCHMARK(embedding);

void embedding_dtable(State& state) {
  const auto tokens = words(kRows);
  const Floats dy = numbers(kRows * kWidth);
  Floats dtable(kWords * kWidth);
  for (auto _ : state) {
    embedding_gradient({.tokens = tokens.data(),
                        .dy = dy.data(),
                        .dtable = dtable.data(),
                        .width = kWidth,
                        .vocab_begin = 0,
                        .vocab_rows = kWords},
                       kRows);
  }
  report_traffic(state, 3 * kRows * kWidth);
}
BENCHMARK(embedding_dtable);

// All phases; the gradient is written beside the logits.
void cross_entropy(State& state) {
  const Floats logits = numbers(kRows * kWords);
  const auto targets = words(kRows);
  Floats dlogits(logits.size());
  Floats largest(kRows);
  Floats sums(kRows);
  Floats target_logits(kRows);
  for (auto _ : state) {
    row_max({.logits = logits.data(), .row_max = largest.data(), .width = kWords, .stride = kWords},
            kRows);
    row_sum_exp({.logits = logits.data(),
                 .row_max = largest.data(),
                 .targets = targets.data(),
                 .row_sum = sums.data(),
                 .target_logit = target_logits.data(),
                 .width = kWords,
                 .stride = kWords,
                 .vocab_begin = 0},
                kRows);
    benchmark::DoNotOptimize(cross_entropy_loss({.row_max = largest.data(),
                                                 .row_sum = sums.data(),
                                                 .target_logit = target_logits.data(),
                                                 .targets = targets.data()},
                                                kRows));
    cross_entropy_backward({.logits = logits.data(),
                            .row_max = largest.data(),
                            .row_sum = sums.data(),
                            .targets = targets.data(),
                            .dlogits = dlogits.data(),
                            .scale = 1.0F,
                            .width = kWords,
                            .stride = kWords,
                            .vocab_begin = 0},
                           kRows);
  }
  report_traffic(state, 4 * kRows * kWords);
}
BENCHMARK(cross_entropy);

AttentionShape attention_shape(const State& state) {
  const Index sequence = state.range(0);
  return {.batch = kRows / sequence,
          .sequence = sequence,
          .heads = 8,
          .kv_heads = state.range(1),
          .head_dim = 32};
}

// Of the scores below the diagonal alone, in two products.
double causal_flops(const AttentionShape& s) {
  return 4.0 *
         static_cast<double>(s.batch * s.heads * s.sequence * (s.sequence + 1) / 2 * s.head_dim);
}

void attention(State& state) {
  const AttentionShape shape = attention_shape(state);
  const Floats qkv = numbers(kRows * (8 + 2 * shape.kv_heads) * 32);
  Floats output(kRows * kWidth);
  Floats log_sum_exp(kRows * 8);
  Floats workspace(static_cast<std::size_t>(attention_forward_workspace(shape).count()) / 4);
  for (auto _ : state) {
    attention_forward({.shape = shape,
                       .qkv = qkv.data(),
                       .output = output.data(),
                       .log_sum_exp = log_sum_exp.data(),
                       .workspace = workspace.data()});
  }
  report_flops(state, causal_flops(shape));
}
BENCHMARK(attention)
    ->ArgNames({"sequence", "kv_heads"})
    ->Args({256, 8})
    ->Args({256, 2})
    ->Args({1024, 8});

void attention_dqkv(State& state) {
  const AttentionShape shape = attention_shape(state);
  const Floats qkv = numbers(kRows * (8 + 2 * shape.kv_heads) * 32);
  Floats dqkv(qkv.size());
  Floats output(kRows * kWidth);
  Floats log_sum_exp(kRows * 8);
  Floats workspace(static_cast<std::size_t>(attention_backward_workspace(shape).count()) / 4);
  attention_forward({.shape = shape,
                     .qkv = qkv.data(),
                     .output = output.data(),
                     .log_sum_exp = log_sum_exp.data(),
                     .workspace = workspace.data()});
  const Floats doutput = numbers(kRows * kWidth);
  for (auto _ : state) {
    attention_backward({.shape = shape,
                        .qkv = qkv.data(),
                        .output = output.data(),
                        .log_sum_exp = log_sum_exp.data(),
                        .doutput = doutput.data(),
                        .dqkv = dqkv.data(),
                        .workspace = workspace.data()});
  }
  report_flops(state, 2.5 * causal_flops(shape));
}
BENCHMARK(attention_dqkv)
    ->ArgNames({"sequence", "kv_heads"})
    ->Args({256, 8})
    ->Args({256, 2})
    ->Args({1024, 8});

void adamw_step(State& state) {
  const Index count = 4200000;
  Floats parameters = numbers(count);
  const Floats gradients = numbers(count);
  Floats first(parameters.size());
  Floats second(parameters.size());
  for (auto _ : state) {
    adamw({.parameters = parameters.data(),
           .gradients = gradients.data(),
           .first_moment = first.data(),
           .second_moment = second.data(),
           .step = 1,
           .learning_rate = 1e-3},
          count);
  }
  report_traffic(state, 7 * count);
}
BENCHMARK(adamw_step);

void gradient_norm(State& state) {
  const Floats gradients = numbers(4200000);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        sum_of_squares(gradients.data(), static_cast<Index>(gradients.size())));
  }
  report_traffic(state, static_cast<Index>(gradients.size()));
}
BENCHMARK(gradient_norm);

void dropout_rows(State& state) {
  const Floats x = numbers(kRows * kWidth);
  Floats y(x.size());
  for (auto _ : state) {
    dropout({.x = x.data(),
             .y = y.data(),
             .width = kWidth,
             .slice = {.global_width = kWidth},
             .probability = 0.1F,
             .seed = 1,
             .stream = 2},
            kRows);
  }
  report_traffic(state, 2 * kRows * kWidth);
}
BENCHMARK(dropout_rows);

void normal_fill(State& state) {
  Floats y(kRows * kWidth);
  for (auto _ : state) {
    fill_normal({.y = y.data(),
                 .rows = kRows,
                 .width = kWidth,
                 .slice = {.global_width = kWidth},
                 .deviation = 0.02,
                 .seed = 1,
                 .stream = 2});
  }
  report_traffic(state, kRows * kWidth);
}
BENCHMARK(normal_fill);

}  // namespace
}  // namespace stagewright::kernels
