#pragma once

#include <cudnn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace standin {

/// A tensor of a cuDNN graph, of four dimensions.
struct GraphTensor {
  std::int64_t id = 0;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::array<std::int64_t, 4> sizes{};
  std::array<std::int64_t, 4> strides{};
  bool passing = false;   ///< nowhere in memory
  bool by_value = false;  ///< a number of the host

  [[nodiscard]] std::int64_t elements() const { return sizes[0] * sizes[1] * sizes[2] * sizes[3]; }
  /// From the first element to behind the last, in elements.
  [[nodiscard]] std::int64_t extent() const;
  [[nodiscard]] std::size_t bytes() const;
};

enum class GraphOperationKind {
  kMatmul,
  kPointwise,
  kReduction,
  kReshape
};

struct GraphOperation {
  GraphOperationKind kind = GraphOperationKind::kMatmul;
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_ADD;
  cudnnReduceTensorOp_t reduction = CUDNN_REDUCE_TENSOR_ADD;
  std::int64_t axis = 0;
  std::vector<GraphTensor> inputs;  ///< x, b, t of a pointwise one; a, b of a product
  GraphTensor output;
};

/// What is wrong with an operation's shapes and types; "" if nothing.
[[nodiscard]] std::string objection(const GraphOperation& operation);
/// What is wrong with operations as a graph: every tensor is written once and before it is read.
[[nodiscard]] std::string objection(const std::vector<GraphOperation>& operations);

/// Computes a graph, one operation after the other, in fp32; `places` has the tensors in memory and
/// the numbers.
void compute(const std::vector<GraphOperation>& operations,
             const std::map<std::int64_t, void*>& places);

}  // namespace standin
