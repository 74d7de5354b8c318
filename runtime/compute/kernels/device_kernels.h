#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/compute/kernels/activations.h"
#include "runtime/compute/kernels/attention_rows.h"
#include "runtime/compute/kernels/bias.h"
#include "runtime/compute/kernels/columns.h"
#include "runtime/compute/kernels/combine.h"
#include "runtime/compute/kernels/convert.h"
#include "runtime/compute/kernels/cross_entropy.h"
#include "runtime/compute/kernels/element_wise.h"
#include "runtime/compute/kernels/embedding.h"
#include "runtime/compute/kernels/experts.h"
#include "runtime/compute/kernels/gated_update.h"
#include "runtime/compute/kernels/layer_norm.h"
#include "runtime/compute/kernels/optimizer.h"
#include "runtime/compute/kernels/portable.h"
#include "runtime/compute/kernels/random.h"
#include "runtime/compute/kernels/rms_norm.h"
#include "runtime/compute/kernels/rope.h"
#include "runtime/compute/kernels/squared_error.h"
#include "runtime/compute/kernels/totals.h"

/// Kernels that a device launches as they are: call(name, functor).  Each is a member
/// `name(kernel, count)` of OperationKernels, a function of kernels/ on the CPU, and an entry of
/// the device's code; count: rows or elements, as the functor is called.
#define STAGEWRIGHT_LAUNCHED_KERNELS(call)                                                         \
  call(balance_gradient, BalanceGradient<float>) call(choose_experts, ChooseExperts<float>) call(  \
      choose_experts_backward, ChooseExpertsBackward<float>) call(combine_rows,                    \
                                                                  CombineRows<float>)              \
      call(combine_rows_backward, CombineRowsBackward<float>) call(                                \
          dispatch_rows, DispatchRows<float>) call(place_rows, PlaceRows) call(add, Add<float>)    \
          call(add_bias, AddBias<float>) call(add_columns, AddColumns<float>) call(                \
              copy_columns, CopyColumns<float>) call(add_bias_residual, AddBiasResidual<float>)    \
              call(column_sum, ColumnSum<float>)                                                   \
                  call(cross_entropy_backward, CrossEntropyBackward<float>) call(                  \
                      dropout, Dropout<float>) call(embedding_forward, EmbeddingForward<float>)    \
                      call(fill, Fill<float>) call(gelu_backward, GeluBackward<float>) call(       \
                          gelu_forward, GeluForward<float>) call(layer_norm_forward,               \
                                                                 LayerNormForward<float>)          \
                          call(layer_norm_input_gradient, LayerNormInputGradient<float>) call(     \
                              position_forward, PositionForward<float>)                            \
                              call(relu_backward, ReluBackward<float>) call(                       \
                                  relu_forward, ReluForward<float>) call(rms_norm_forward,         \
                                                                         RmsNormForward<float>)    \
                                  call(rms_norm_input_gradient, RmsNormInputGradient<float>) call( \
                                      rms_norm_parameter_gradient,                                 \
                                      RmsNormParameterGradient<float>)                             \
                                      call(row_max, RowMax<float>) call(row_squared_error,         \
                                                                        RowSquaredError<float>)    \
                                          call(row_sum_exp, RowSumExp<float>) call(                \
                                              squared_error_backward, SquaredErrorBackward<float>) \
                                              call(swiglu_backward, SwigluBackward<float>)         \
                                                  call(swiglu_forward, SwigluForward<float>)

/// The entries of a device's code: call(name, functor), the functor in namespace kernels.  Every
/// entry takes a count (rows or elements), the number of columns (of column kernels, else 1) and
/// the functor, by value.
#define STAGEWRIGHT_DEVICE_KERNELS(call)                                                          \
  STAGEWRIGHT_LAUNCHED_KERNELS(call)                                                              \
  call(adamw, Gated<AdamWUpdate>) call(add_cross_entropy, AddCrossEntropy)                        \
      call(add_squared_error, AddSquaredError) call(add_sum, AddSum) call(                        \
          attention_join, AttentionJoin) call(attention_probabilities, AttentionProbabilities)    \
          call(attention_score_gradient, AttentionScoreGradient)                                  \
              call(attention_softmax, AttentionSoftmax) call(combine_bfloat16, CombineBFloat16)   \
                  call(combine_float16, CombineFloat16) call(combine_float32, CombineFloat32)     \
                      call(combine_int32, CombineInt32) call(embedding_forward_16,                \
                                                             EmbeddingForward<std::uint16_t>)     \
                          call(embedding_gradient, EmbeddingGradient<float>) call(                \
                              from_bfloat16, FromBFloat16) call(from_float16, FromFloat16)        \
                              call(layer_norm_gamma_gradient, LayerNormGammaGradient<float>)      \
                                  call(plain_sgd, Gated<PlainSgdUpdate>)                          \
                                      call(position_gradient, PositionGradient<float>) call(      \
                                          rope, RopeRotation<float>) call(row_dot, RowDot)        \
                                          call(scale_rows, ScaleRows) call(sgd, Gated<SgdUpdate>) \
                                              call(square_parts, SquareParts)                     \
                                                  call(to_bfloat16, ToBFloat16)                   \
                                                      call(to_float16, ToFloat16)                 \
                                                          call(update_factor, UpdateFactor)

namespace stagewright::kernels {

/// How a kernel is called.
enum class KernelForm : std::uint8_t {
  kRows,      ///< k(team, row)
  kElements,  ///< k(index)
  kColumns,   ///< k.term(row, column), k.store(column, sum); k.width columns
};

template <class Kernel, class = void>
struct HasTerm : std::false_type {};
template <class Kernel>
struct HasTerm<Kernel, std::void_t<decltype(std::declval<const Kernel&>().term(Index{}, Index{}))>>
    : std::true_type {};

template <class Kernel>
inline constexpr KernelForm kFormOf =
    HasTerm<Kernel>::value                      ? KernelForm::kColumns
    : std::is_invocable_v<const Kernel&, Index> ? KernelForm::kElements
                                                : KernelForm::kRows;

/// "gelu_forward": the entry of a functor.
template <class Kernel>
inline constexpr const char* kEntryOf = nullptr;
#define STAGEWRIGHT_ENTRY(name, ...) \
  template <>                        \
  inline constexpr const char* kEntryOf<__VA_ARGS__> = #name;
STAGEWRIGHT_DEVICE_KERNELS(STAGEWRIGHT_ENTRY)
#undef STAGEWRIGHT_ENTRY

}  // namespace stagewright::kernels
