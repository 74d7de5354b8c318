#include "runtime/compute/narrow_gemm.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <dnnl.hpp>

#include "runtime/compute/one_thread.h"
#include "runtime/compute/widened_operands.h"

namespace stagewright {

namespace {

using Extent = dnnl::memory::dim;

/// A matrix as it lies in memory, row-major; `transposed` is stored as its transpose.
[[nodiscard]] dnnl::memory::desc matrix(Extent rows,
                                        Extent columns,
                                        bool transposed,
                                        dnnl::memory::data_type type) {
  const dnnl::memory::dims strides =
      transposed ? dnnl::memory::dims{1, rows} : dnnl::memory::dims{columns, 1};
  return {{rows, columns}, type, strides};
}

}  // namespace

/// What tells one product from another, but for where its matrices lie.
struct NarrowGemm::Form {
  Extent m = 0;
  Extent n = 0;
  Extent k = 0;
  DType type = DType::kBFloat16;  ///< of the matrices
  bool transpose_a = false;
  bool transpose_b = false;
  bool accumulate = false;
  bool wide_result = false;  ///< fp32
  bool bias = false;
  friend auto operator<=>(const Form&, const Form&) = default;

  /// Nothing for operands of other types.
  [[nodiscard]] static std::optional<Form> of(const BoundOperation& bound);
  [[nodiscard]] dnnl::matmul::primitive_desc describe(const dnnl::engine& engine) const;
};

std::optional<NarrowGemm::Form> NarrowGemm::Form::of(const BoundOperation& bound) {
  const Operation& op = *bound.operation;
  const DType type = bound.input_types.front().type;
  const bool alike = std::ranges::all_of(
      bound.input_types, [type](const OperandType& operand) { return operand.type == type; });
  const DType result = bound.output_types.front().type;
  if (!alike || !is_narrow(type) || (result != type && result != DType::kFloat32)) {
    return std::nullopt;
  }
  return Form{.m = op.shape.rows,
              .n = op.shape.cols,
              .k = op.shape.inner,
              .type = type,
              .transpose_a = op.transpose_a,
              .transpose_b = op.transpose_b,
              .accumulate = op.accumulate,
              .wide_result = result == DType::kFloat32,
              .bias = bound.inputs.size() > 2};
}

dnnl::matmul::primitive_desc NarrowGemm::Form::describe(const dnnl::engine& engine) const {
  using Type = dnnl::memory::data_type;
  const Type narrow = type == DType::kFloat16 ? Type::f16 : Type::bf16;
  const auto a = matrix(m, k, transpose_a, narrow);
  const auto b = matrix(k, n, transpose_b, narrow);
  const auto c = matrix(m, n, false, wide_result ? Type::f32 : narrow);
  const auto bias_desc = bias ? matrix(1, n, false, narrow) : dnnl::memory::desc();
  dnnl::primitive_attr attributes;
  if (accumulate) {
    dnnl::post_ops sum;
    sum.append_sum(1.0F);
    attributes.set_post_ops(sum);
  }
#if DNNL_VERSION_MAJOR >= 3
  return {engine, a, b, bias_desc, c, attributes};
#else
  return {dnnl::matmul::desc(a, b, bias_desc, c), attributes, engine};
#endif
}

struct NarrowGemm::Prepared {
  struct Product {
    dnnl::matmul primitive;
    std::unordered_map<int, dnnl::memory> arguments;
  };

  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::map<Form, Product> products;
  std::set<DType> missing;  ///< types that the machine has no products of

  /// Null where the machine has no such product.
  [[nodiscard]] Product* find(const Form& form) {
    if (const auto found = products.find(form); found != products.end()) {
      return &found->second;
    }
    try {
      const dnnl::matmul::primitive_desc made = form.describe(engine);
      Product product{.primitive = dnnl::matmul(made), .arguments = {}};
      const auto place = [&](int argument, const dnnl::memory::desc& desc) {
        product.arguments.emplace(argument, dnnl::memory(desc, engine, nullptr));
      };
      place(DNNL_ARG_SRC, made.src_desc());
      place(DNNL_ARG_WEIGHTS, made.weights_desc());
      place(DNNL_ARG_DST, made.dst_desc());
      if (form.bias) {
        place(DNNL_ARG_BIAS, made.bias_desc());
      }
      return &products.emplace(form, std::move(product)).first->second;
    } catch (const dnnl::error& problem) {
      if (problem.status != dnnl_unimplemented) {
        throw;
      }
      missing.insert(form.type);
      return nullptr;
    }
  }
};

NarrowGemm::NarrowGemm() = default;
NarrowGemm::~NarrowGemm() = default;

bool NarrowGemm::run(const BoundOperation& bound) {
  const std::optional<Form> form = Form::of(bound);
  if (!form || (prepared_ != nullptr && prepared_->missing.contains(form->type))) {
    return false;
  }
  const kernels::OneThread one_thread;
  if (prepared_ == nullptr) {
    prepared_ = std::make_unique<Prepared>();
  }
  Prepared::Product* product = prepared_->find(*form);
  if (product == nullptr) {
    return false;
  }
  product->arguments.at(DNNL_ARG_SRC).set_data_handle(bound.inputs[0]);
  product->arguments.at(DNNL_ARG_WEIGHTS).set_data_handle(bound.inputs[1]);
  product->arguments.at(DNNL_ARG_DST).set_data_handle(bound.outputs[0]);
  if (form->bias) {
    product->arguments.at(DNNL_ARG_BIAS).set_data_handle(bound.inputs[2]);
  }
  product->primitive.execute(prepared_->stream, product->arguments);
  prepared_->stream.wait();
  return true;
}

}  // namespace stagewright
