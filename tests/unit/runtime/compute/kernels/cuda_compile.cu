// Every kernel header compiled by nvcc, for float and bfloat16 activations.
// Compiling is the test: these functions are never called.
#include <cuda_bf16.h>

#include "runtime/compute/kernels/activations.h"
#include "runtime/compute/kernels/attention_rows.h"
#include "runtime/compute/kernels/bias.h"
#include "runtime/compute/kernels/convert.h"
#include "runtime/compute/kernels/cross_entropy.h"
#include "runtime/compute/kernels/cuda_launch.h"
#include "runtime/compute/kernels/element_wise.h"
#include "runtime/compute/kernels/embedding.h"
#include "runtime/compute/kernels/layer_norm.h"
#include "runtime/compute/kernels/optimizer.h"
#include "runtime/compute/kernels/random.h"
#include "runtime/compute/kernels/rms_norm.h"
#include "runtime/compute/kernels/rope.h"
#include "runtime/compute/kernels/squared_error.h"

namespace stagewright::kernels {

template <class T>
void launch_activation_kernels(cudaStream_t s, Index n) {
  launch_elements(s, n, Fill<T>{});
  launch_elements(s, n, Add<T>{});
  launch_elements(s, n, Scale<T>{});
  launch_elements(s, n, Accumulate<T>{});
  launch_rows(s, n, AddBias<T>{});
  launch_rows(s, n, AddBiasResidual<T>{});
  launch_rows(s, n, BroadcastBias<T>{});
  launch_columns(s, n, n, ColumnSum<T>{});
  launch_rows(s, n, LayerNormForward<T>{});
  launch_rows(s, n, LayerNormInputGradient<T>{});
  launch_columns(s, n, n, LayerNormGammaGradient<T>{});
  launch_rows(s, n, RmsNormForward<T>{});
  launch_rows(s, n, RmsNormInputGradient<T>{});
  launch_columns(s, n, n, RmsNormParameterGradient<T>{});
  launch_elements(s, n, GeluForward<T>{});
  launch_elements(s, n, GeluBackward<T>{});
  launch_elements(s, n, ReluForward<T>{});
  launch_elements(s, n, ReluBackward<T>{});
  launch_rows(s, n, SwigluForward<T>{});
  launch_rows(s, n, SwigluBackward<T>{});
  launch_rows(s, n, RopeRotation<T>{});
  launch_rows(s, n, EmbeddingForward<T>{});
  launch_rows(s, n, EmbeddingGradient<T>{});
  launch_rows(s, n, PositionForward<T>{});
  launch_rows(s, n, PositionGradient<T>{});
  launch_rows(s, n, RowMax<T>{});
  launch_rows(s, n, RowSumExp<T>{});
  launch_rows(s, n, CrossEntropyBackward<T>{});
  launch_rows(s, n, RowSquaredError<T>{});
  launch_rows(s, n, SquaredErrorBackward<T>{});
  launch_rows(s, n, Dropout<T>{});
}

template void launch_activation_kernels<float>(cudaStream_t, Index);
template void launch_activation_kernels<__nv_bfloat16>(cudaStream_t, Index);

void launch_float_kernels(cudaStream_t s, Index n) {
  launch_rows(s, n, AttentionSoftmax{});
  launch_rows(s, n, AttentionProbabilities{});
  launch_rows(s, n, AttentionScoreGradient{});
  launch_rows(s, n, RowDot{});
  launch_rows(s, n, ScaleRows{});
  launch_elements(s, n, AdamWUpdate{});
  launch_elements(s, n, SgdUpdate{});
  launch_elements(s, n, PlainSgdUpdate{});
}

}  // namespace stagewright::kernels
