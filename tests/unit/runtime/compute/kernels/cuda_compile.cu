// Every kernel header compiled by nvcc for bfloat16 activations, and those for float that no
// entry of the device's code uses.  Compiling is the test: these entries are never called.
#include <cuda_bf16.h>

#include "runtime/compute/kernels/cuda_run.h"
#include "runtime/compute/kernels/device_kernels.h"
#include "runtime/compute/kernels/patches.h"
#include "runtime/compute/kernels/pool.h"

namespace stagewright::kernels {

template <class Kernel>
__global__ void entry(Index count, Index columns, Kernel kernel) {
  run_on_gpu(count, columns, kernel);
}

#define STAGEWRIGHT_COMPILE(kernel) template __global__ void entry(Index, Index, kernel<T>);

using T = __nv_bfloat16;
STAGEWRIGHT_COMPILE(Accumulate)
STAGEWRIGHT_COMPILE(Add)
STAGEWRIGHT_COMPILE(AddBias)
STAGEWRIGHT_COMPILE(AddBiasResidual)
STAGEWRIGHT_COMPILE(BroadcastBias)
STAGEWRIGHT_COMPILE(AddColumns)
STAGEWRIGHT_COMPILE(AddPatches)
STAGEWRIGHT_COMPILE(AveragePool)
STAGEWRIGHT_COMPILE(AveragePoolGradient)
STAGEWRIGHT_COMPILE(ColumnSum)
STAGEWRIGHT_COMPILE(CopyColumns)
STAGEWRIGHT_COMPILE(CrossEntropyBackward)
STAGEWRIGHT_COMPILE(Dropout)
STAGEWRIGHT_COMPILE(EmbeddingForward)
STAGEWRIGHT_COMPILE(EmbeddingGradient)
STAGEWRIGHT_COMPILE(Fill)
STAGEWRIGHT_COMPILE(GeluBackward)
STAGEWRIGHT_COMPILE(GeluForward)
STAGEWRIGHT_COMPILE(LayerNormForward)
STAGEWRIGHT_COMPILE(LayerNormGammaGradient)
STAGEWRIGHT_COMPILE(LayerNormInputGradient)
STAGEWRIGHT_COMPILE(LayOutPatches)
STAGEWRIGHT_COMPILE(MaximumPool)
STAGEWRIGHT_COMPILE(MaximumPoolGradient)
STAGEWRIGHT_COMPILE(PositionForward)
STAGEWRIGHT_COMPILE(PositionGradient)
STAGEWRIGHT_COMPILE(ReluBackward)
STAGEWRIGHT_COMPILE(ReluForward)
STAGEWRIGHT_COMPILE(RmsNormForward)
STAGEWRIGHT_COMPILE(RmsNormInputGradient)
STAGEWRIGHT_COMPILE(RmsNormParameterGradient)
STAGEWRIGHT_COMPILE(RopeRotation)
STAGEWRIGHT_COMPILE(RowMax)
STAGEWRIGHT_COMPILE(RowSquaredError)
STAGEWRIGHT_COMPILE(RowSumExp)
STAGEWRIGHT_COMPILE(Scale)
STAGEWRIGHT_COMPILE(ScalePixels)
STAGEWRIGHT_COMPILE(SquaredErrorBackward)
STAGEWRIGHT_COMPILE(SwigluBackward)
STAGEWRIGHT_COMPILE(SwigluForward)

template __global__ void entry(Index, Index, Accumulate<float>);
template __global__ void entry(Index, Index, BroadcastBias<float>);
template __global__ void entry(Index, Index, Scale<float>);

}  // namespace stagewright::kernels
