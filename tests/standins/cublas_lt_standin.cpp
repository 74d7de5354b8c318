// A stand-in for cuBLASLt over the stand-in of the CUDA runtime: products are computed on the CPU,
// in the order of their stream.  Stricter than the real one: an algorithm serves only what it was
// made for, with the alignment and the workspace that were promised.

#include <cublasLt.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "runtime/compute/kernels/convert.h"
#include "standins.h"

struct StandinLayout {
  cudaDataType_t type;
  std::uint64_t rows;
  std::uint64_t columns;
  std::int64_t leading;
};
struct StandinProduct {
  cublasComputeType_t compute;
  cublasOperation_t transpose_a = CUBLAS_OP_N;
  cublasOperation_t transpose_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  cudaDataType_t bias_type = CUDA_R_32F;
  const void* bias = nullptr;
};
struct StandinPreference {
  std::uint64_t workspace = 0;
  std::uint32_t alignment[4] = {256, 256, 256, 256};  // of A, B, C and D
};

namespace {

/// What lies in cublasLtMatmulAlgo_t.
struct Algorithm {
  std::uint64_t magic;
  std::uint64_t made_for;  // hash
  std::uint64_t workspace;
  std::uint32_t alignment[4];
  std::uint64_t unused[2];
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));
constexpr std::uint64_t kMagic = 0x7374616e64696e21;

[[nodiscard]] StandinLayout& layout_of(cublasLtMatrixLayout_t handle) {
  return *reinterpret_cast<StandinLayout*>(handle);
}
[[nodiscard]] StandinProduct& product_of(cublasLtMatmulDesc_t handle) {
  return *reinterpret_cast<StandinProduct*>(handle);
}

cublasStatus_t refuse(const std::string& text) {
  standin_problem(("cublasLtMatmul " + text).c_str());
  return CUBLAS_STATUS_INVALID_VALUE;
}

[[nodiscard]] std::size_t size_of(cudaDataType_t type) {
  return type == CUDA_R_32F ? 4 : 2;
}

[[nodiscard]] float load(const void* data, cudaDataType_t type, std::size_t i) {
  if (type == CUDA_R_32F) {
    return static_cast<const float*>(data)[i];
  }
  const std::uint16_t bits = static_cast<const std::uint16_t*>(data)[i];
  return type == CUDA_R_16BF ? stagewright::kernels::from_bfloat16(bits)
                             : stagewright::kernels::from_float16(bits);
}

void store(void* data, cudaDataType_t type, std::size_t i, float value) {
  if (type == CUDA_R_32F) {
    static_cast<float*>(data)[i] = value;
  } else {
    static_cast<std::uint16_t*>(data)[i] = type == CUDA_R_16BF
                                               ? stagewright::kernels::to_bfloat16(value)
                                               : stagewright::kernels::to_float16(value);
  }
}

/// A product as it was asked for, column-major.
struct Call {
  StandinProduct product;
  StandinLayout a, b, c, d;
  const void* a_data;
  const void* b_data;
  const void* c_data;
  void* d_data;
  float alpha;
  float beta;

  [[nodiscard]] std::uint64_t inner() const {
    return product.transpose_a == CUBLAS_OP_N ? a.columns : a.rows;
  }
  [[nodiscard]] bool has_bias() const { return product.epilogue == CUBLASLT_EPILOGUE_BIAS; }

  [[nodiscard]] std::uint64_t hash() const {
    const std::string text = fmt::format("{} {} {} {} {}|{} {} {} {}|{} {} {} {}|{} {} {} {}",
                                         static_cast<int>(product.compute),
                                         static_cast<int>(product.transpose_a),
                                         static_cast<int>(product.transpose_b),
                                         static_cast<int>(product.epilogue),
                                         static_cast<int>(product.bias_type),
                                         static_cast<int>(a.type),
                                         a.rows,
                                         a.columns,
                                         a.leading,
                                         static_cast<int>(b.type),
                                         b.rows,
                                         b.columns,
                                         b.leading,
                                         static_cast<int>(d.type),
                                         d.rows,
                                         d.columns,
                                         d.leading);
    return std::hash<std::string>{}(text);
  }

  /// What is wrong with it; "" if nothing.
  [[nodiscard]] std::string objection() const {
    const bool plain_a = product.transpose_a == CUBLAS_OP_N;
    const bool plain_b = product.transpose_b == CUBLAS_OP_N;
    const std::uint64_t m = plain_a ? a.rows : a.columns;
    const std::uint64_t n = plain_b ? b.columns : b.rows;
    const std::uint64_t other_inner = plain_b ? b.rows : b.columns;
    if (m != d.rows || n != d.columns || inner() != other_inner) {
      return fmt::format(
          "of {} x {} by {} x {} into {} x {}", m, inner(), other_inner, n, d.rows, d.columns);
    }
    for (const StandinLayout* layout : {&a, &b, &c, &d}) {
      if (layout->leading < static_cast<std::int64_t>(layout->rows) || layout->rows == 0 ||
          layout->columns == 0) {
        return fmt::format("of a matrix {} x {} whose columns lie {} apart",
                           layout->rows,
                           layout->columns,
                           layout->leading);
      }
    }
    if (c.rows != d.rows || c.columns != d.columns || c.leading != d.leading || c.type != d.type) {
      return "into a matrix unlike the one that it adds to";
    }
    const bool compute_fp32 =
        product.compute == CUBLAS_COMPUTE_32F || product.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    if (!compute_fp32 || a.type != b.type || (d.type != a.type && d.type != CUDA_R_32F)) {
      return "of types that cuBLASLt does not multiply";
    }
    if (has_bias() && product.bias_type != d.type) {
      return "with a bias of another type";
    }
    return {};
  }

  void compute() const {
    const std::uint64_t k = inner();
    for (std::uint64_t j = 0; j < d.columns; ++j) {
      for (std::uint64_t i = 0; i < d.rows; ++i) {
        float sum = 0.0F;
        for (std::uint64_t p = 0; p < k; ++p) {
          const std::uint64_t at_a = product.transpose_a == CUBLAS_OP_N
                                         ? i + p * static_cast<std::uint64_t>(a.leading)
                                         : p + i * static_cast<std::uint64_t>(a.leading);
          const std::uint64_t at_b = product.transpose_b == CUBLAS_OP_N
                                         ? p + j * static_cast<std::uint64_t>(b.leading)
                                         : j + p * static_cast<std::uint64_t>(b.leading);
          sum += load(a_data, a.type, at_a) * load(b_data, b.type, at_b);
        }
        const std::uint64_t at = i + j * static_cast<std::uint64_t>(d.leading);
        float value = alpha * sum;
        if (beta != 0.0F) {
          value += beta * load(c_data, c.type, at);
        }
        if (has_bias()) {
          value += load(product.bias, product.bias_type, i);
        }
        store(d_data, d.type, at, value);
      }
    }
  }
};

[[nodiscard]] std::size_t extent(const StandinLayout& layout) {
  return (static_cast<std::size_t>(layout.leading) * (layout.columns - 1) + layout.rows) *
         size_of(layout.type);
}

/// The columns of a matrix may have other matrices between them.
[[nodiscard]] bool touch(
    void* stream, const StandinLayout& layout, const void* data, bool writes, const char* what) {
  if (!standin_may_touch(data, extent(layout), what)) {
    return false;
  }
  const auto* first = static_cast<const std::byte*>(data);
  for (std::uint64_t column = 0; column < layout.columns; ++column) {
    standin_touch(stream,
                  first + column * static_cast<std::size_t>(layout.leading) * size_of(layout.type),
                  layout.rows * size_of(layout.type),
                  writes,
                  what);
  }
  return true;
}

/// What is wrong with running the product by the algorithm; "" if nothing.
[[nodiscard]] std::string objection(const Algorithm& algorithm,
                                    const Call& call,
                                    std::size_t workspace_bytes) {
  if (algorithm.magic != kMagic || algorithm.made_for != call.hash()) {
    return "with an algorithm for another product";
  }
  if (workspace_bytes < algorithm.workspace) {
    return "with a smaller workspace than was promised";
  }
  const void* const data[] = {call.a_data, call.b_data, call.c_data, call.d_data};
  for (int i = 0; i < 4; ++i) {
    if (reinterpret_cast<std::uintptr_t>(data[i]) % algorithm.alignment[i] != 0) {
      return fmt::format("operand {} is not aligned to {} bytes", i, algorithm.alignment[i]);
    }
  }
  return {};
}

[[nodiscard]] bool touch_operands(void* stream,
                                  const Call& call,
                                  const void* workspace,
                                  std::size_t workspace_bytes) {
  const auto touch_bytes = [stream](
                               const void* data, std::size_t bytes, bool writes, const char* what) {
    if (!standin_may_touch(data, bytes, what)) {
      return false;
    }
    standin_touch(stream, data, bytes, writes, what);
    return true;
  };
  return touch(stream, call.a, call.a_data, false, "A of cublasLtMatmul") &&
         touch(stream, call.b, call.b_data, false, "B of cublasLtMatmul") &&
         touch(stream, call.d, call.d_data, true, "D of cublasLtMatmul") &&
         touch_bytes(workspace, workspace_bytes, true, "the workspace of cublasLtMatmul") &&
         (!call.has_bias() || touch_bytes(call.product.bias,
                                          call.d.rows * size_of(call.product.bias_type),
                                          false,
                                          "the bias of cublasLtMatmul"));
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(new int(0));
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete reinterpret_cast<int*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "success" : "refused by the stand-in";
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout,
                                          cudaDataType type,
                                          std::uint64_t rows,
                                          std::uint64_t columns,
                                          std::int64_t leading) {
  *layout =
      reinterpret_cast<cublasLtMatrixLayout_t>(new StandinLayout{type, rows, columns, leading});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete reinterpret_cast<StandinLayout*>(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* product,
                                        cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  if (scale != CUDA_R_32F) {
    return refuse("with factors that are not fp32");
  }
  auto* const made = new StandinProduct;
  made->compute = compute;
  *product = reinterpret_cast<cublasLtMatmulDesc_t>(made);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  delete reinterpret_cast<StandinProduct*>(product);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t handle,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value,
                                              size_t bytes) {
  StandinProduct& product = product_of(handle);
  const auto set = [&](auto& member) {
    if (bytes != sizeof member) {
      return refuse(fmt::format("attribute {} of {} bytes", static_cast<int>(attribute), bytes));
    }
    std::memcpy(&member, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return set(product.transpose_a);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return set(product.transpose_b);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return set(product.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return set(product.bias_type);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return set(product.bias);
    default:
      return refuse(fmt::format("attribute {} is not known", static_cast<int>(attribute)));
  }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new StandinPreference);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete reinterpret_cast<StandinPreference*>(preference);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t handle,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value,
                                                    size_t bytes) {
  auto& preference = *reinterpret_cast<StandinPreference*>(handle);
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      if (bytes == sizeof preference.workspace) {
        std::memcpy(&preference.workspace, value, bytes);
        return CUBLAS_STATUS_SUCCESS;
      }
      break;
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      if (bytes == sizeof preference.alignment[0]) {
        std::memcpy(&preference.alignment[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES],
                    value,
                    bytes);
        return CUBLAS_STATUS_SUCCESS;
      }
      break;
    default:
      break;
  }
  return refuse(fmt::format("preference {} of {} bytes", static_cast<int>(attribute), bytes));
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t /*handle*/,
                                              cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c,
                                              cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t wanted,
                                              int most,
                                              cublasLtMatmulHeuristicResult_t found[],
                                              int* count) {
  const Call call{product_of(product),
                  layout_of(a),
                  layout_of(b),
                  layout_of(c),
                  layout_of(d),
                  nullptr,
                  nullptr,
                  nullptr,
                  nullptr,
                  1.0F,
                  0.0F};
  *count = 0;
  if (const std::string wrong = call.objection(); !wrong.empty()) {
    (void)refuse(wrong);
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (most < 1) {
    return refuse("no algorithm is asked for");
  }
  const auto& preference = *reinterpret_cast<StandinPreference*>(wanted);
  Algorithm algorithm{.magic = kMagic,
                      .made_for = call.hash(),
                      .workspace = preference.workspace,
                      .alignment = {},
                      .unused = {}};
  std::memcpy(algorithm.alignment, preference.alignment, sizeof algorithm.alignment);
  found[0] = {};
  std::memcpy(&found[0].algo, &algorithm, sizeof algorithm);
  found[0].workspaceSize = preference.workspace;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t /*handle*/,
                              cublasLtMatmulDesc_t product,
                              const void* alpha,
                              const void* a_data,
                              cublasLtMatrixLayout_t a,
                              const void* b_data,
                              cublasLtMatrixLayout_t b,
                              const void* beta,
                              const void* c_data,
                              cublasLtMatrixLayout_t c,
                              void* d_data,
                              cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t* chosen,
                              void* workspace,
                              size_t workspace_bytes,
                              cudaStream_t stream) {
  Algorithm algorithm{};
  std::memcpy(&algorithm, chosen, sizeof algorithm);
  auto call = std::make_unique<Call>(Call{product_of(product),
                                          layout_of(a),
                                          layout_of(b),
                                          layout_of(c),
                                          layout_of(d),
                                          a_data,
                                          b_data,
                                          c_data,
                                          d_data,
                                          *static_cast<const float*>(alpha),
                                          *static_cast<const float*>(beta)});
  if (const std::string wrong = objection(algorithm, *call, workspace_bytes); !wrong.empty()) {
    return refuse(wrong);
  }
  standin_begin(stream);
  if (!touch_operands(stream, *call, workspace, workspace_bytes)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  standin_enqueue(
      stream,
      [](void* argument) { static_cast<const Call*>(argument)->compute(); },
      call.release(),
      [](void* argument) { delete static_cast<Call*>(argument); });
  return CUBLAS_STATUS_SUCCESS;
}
}
