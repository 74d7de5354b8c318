#include "runtime/compute/cudnn_graph.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "runtime/backend_error.h"

namespace stagewright {

namespace {

/// Of the tensors of a graph, in bytes; what allocations have is more.
constexpr std::int64_t kAlignment = 16;

[[nodiscard]] CudnnGraph::Sizes packed(const CudnnGraph::Sizes& sizes) {
  return {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1};
}

}  // namespace

CudnnDescriptor::CudnnDescriptor(std::shared_ptr<const CudnnLibrary> cudnn,
                                 cudnnBackendDescriptorType_t type)
    : cudnn_(std::move(cudnn)) {
  cudnn_->check(cudnn_->cudnnBackendCreateDescriptor(type, &descriptor_),
                "cudnnBackendCreateDescriptor");
}

CudnnDescriptor::CudnnDescriptor(CudnnDescriptor&& other) noexcept
    : cudnn_(other.cudnn_), descriptor_(std::exchange(other.descriptor_, nullptr)) {}

CudnnDescriptor& CudnnDescriptor::operator=(CudnnDescriptor&& other) noexcept {
  std::swap(cudnn_, other.cudnn_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor_ != nullptr) {
    (void)cudnn_->cudnnBackendDestroyDescriptor(descriptor_);
  }
}

void CudnnDescriptor::set_bytes(cudnnBackendAttributeName_t name,
                                cudnnBackendAttributeType_t type,
                                std::int64_t count,
                                const void* values) {
  cudnn_->check(cudnn_->cudnnBackendSetAttribute(descriptor_, name, type, count, values),
                fmt::format("cudnnBackendSetAttribute of {}", static_cast<int>(name)));
}

void CudnnDescriptor::finalize() {
  cudnn_->check(try_finalize(), "cudnnBackendFinalize");
}

cudnnStatus_t CudnnDescriptor::try_finalize() {
  return cudnn_->cudnnBackendFinalize(descriptor_);
}

CudnnPlan::CudnnPlan(std::vector<CudnnDescriptor> parts,
                     std::map<std::int64_t, float> scalars,
                     std::size_t workspace)
    : parts_(std::move(parts)), scalars_(std::move(scalars)), workspace_(workspace) {}

void CudnnPlan::run(const std::shared_ptr<const CudnnLibrary>& cudnn,
                    cudnnHandle_t handle,
                    std::span<const Place> places,
                    void* workspace) {
  std::vector<std::int64_t> ids;
  std::vector<void*> data;
  for (const Place& place : places) {
    ids.push_back(place.tensor);
    data.push_back(place.data);
  }
  for (auto& [id, value] : scalars_) {
    ids.push_back(id);
    data.push_back(&value);
  }
  CudnnDescriptor pack(cudnn, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(
      CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, std::span<const std::int64_t>(ids));
  pack.set(
      CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, std::span<void* const>(data));
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace);
  pack.finalize();
  cudnn->check(cudnn->cudnnBackendExecute(handle, parts_.back().get(), pack.get()),
               "cudnnBackendExecute");
}

CudnnTensor CudnnGraph::add(cudnnDataType_t type,
                            const Sizes& sizes,
                            const Sizes& strides,
                            bool passing) {
  const auto id = static_cast<std::int64_t>(tensors_.size()) + 1;
  CudnnDescriptor& made = tensors_.emplace_back(cudnn_, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
  made.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, std::span<const std::int64_t>(sizes));
  made.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, std::span<const std::int64_t>(strides));
  made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id);
  made.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, kAlignment);
  made.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, passing);
  return {id, sizes, strides};
}

CudnnTensor CudnnGraph::in_memory(cudnnDataType_t type, const Sizes& sizes, const Sizes& strides) {
  const CudnnTensor tensor = add(type, sizes, strides, false);
  tensors_.back().finalize();
  return tensor;
}

CudnnTensor CudnnGraph::passing(cudnnDataType_t type, const Sizes& sizes) {
  return passing(type, sizes, packed(sizes));
}

CudnnTensor CudnnGraph::passing(cudnnDataType_t type, const Sizes& sizes, const Sizes& strides) {
  const CudnnTensor tensor = add(type, sizes, strides, true);
  tensors_.back().finalize();
  return tensor;
}

CudnnTensor CudnnGraph::scalar(float value) {
  const CudnnTensor tensor = add(CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}, false);
  tensors_.back().set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, true);
  tensors_.back().finalize();
  scalars_[tensor.id] = value;
  return tensor;
}

void CudnnGraph::matmul(const CudnnTensor& a, const CudnnTensor& b, const CudnnTensor& c) {
  CudnnDescriptor& how = inner_.emplace_back(cudnn_, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  how.finalize();
  CudnnDescriptor& made =
      operations_.emplace_back(cudnn_, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  made.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, described(a));
  made.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, described(b));
  made.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, described(c));
  made.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
  made.finalize();
}

void CudnnGraph::add(const Pointwise& operation) {
  CudnnDescriptor& how = inner_.emplace_back(cudnn_, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, operation.mode);
  how.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, operation.precision);
  if (operation.axis) {
    how.set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, *operation.axis);
  }
  how.finalize();
  CudnnDescriptor& made =
      operations_.emplace_back(cudnn_, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  made.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
  made.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, described(*operation.x));
  if (operation.b != nullptr) {
    made.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, described(*operation.b));
  }
  if (operation.t != nullptr) {
    made.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, described(*operation.t));
  }
  made.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, described(*operation.y));
  made.finalize();
}

void CudnnGraph::pointwise(cudnnPointwiseMode_t mode, const CudnnTensor& x, const CudnnTensor& y) {
  add({.mode = mode, .x = &x, .y = &y});
}

void CudnnGraph::pointwise(cudnnPointwiseMode_t mode,
                           const CudnnTensor& x,
                           const CudnnTensor& b,
                           const CudnnTensor& y) {
  add({.mode = mode, .x = &x, .b = &b, .y = &y});
}

void CudnnGraph::select(const CudnnTensor& x,
                        const CudnnTensor& b,
                        const CudnnTensor& t,
                        const CudnnTensor& y) {
  add({.mode = CUDNN_POINTWISE_BINARY_SELECT, .x = &x, .b = &b, .t = &t, .y = &y});
}

void CudnnGraph::index(std::int64_t dimension, const CudnnTensor& x, const CudnnTensor& y) {
  add({.mode = CUDNN_POINTWISE_GEN_INDEX,
       .precision = CUDNN_DATA_INT32,
       .axis = dimension,
       .x = &x,
       .y = &y});
}

void CudnnGraph::not_less(const CudnnTensor& a, const CudnnTensor& b, const CudnnTensor& y) {
  add({.mode = CUDNN_POINTWISE_CMP_GE, .precision = CUDNN_DATA_BOOLEAN, .x = &a, .b = &b, .y = &y});
}

void CudnnGraph::reduce(cudnnReduceTensorOp_t op, const CudnnTensor& x, const CudnnTensor& y) {
  CudnnDescriptor& how = inner_.emplace_back(cudnn_, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  how.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, op);
  how.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  how.finalize();
  CudnnDescriptor& made =
      operations_.emplace_back(cudnn_, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  made.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, how);
  made.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, described(x));
  made.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, described(y));
  made.finalize();
}

void CudnnGraph::reorder(const CudnnTensor& x, const CudnnTensor& y) {
  CudnnDescriptor& made =
      operations_.emplace_back(cudnn_, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  made.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, described(x));
  made.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, described(y));
  made.finalize();
}

CudnnDescriptor CudnnGraph::operations(const CudnnTarget& target) {
  std::vector<cudnnBackendDescriptor_t> all;
  all.reserve(operations_.size());
  for (const CudnnDescriptor& operation : operations_) {
    all.push_back(operation.get());
  }
  CudnnDescriptor graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS,
            CUDNN_TYPE_BACKEND_DESCRIPTOR,
            std::span<const cudnnBackendDescriptor_t>(all));
  if (target.handle != nullptr) {
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, target.handle);
  }
  graph.finalize();
  return graph;
}

/// As cuDNN's heuristic orders them.
std::vector<CudnnDescriptor> CudnnGraph::configurations(const CudnnDescriptor& graph,
                                                        const CudnnTarget& target) {
  constexpr std::int64_t kMost = 16;
  CudnnDescriptor heuristic = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, CUDNN_HEUR_MODE_A);
  if (target.properties != nullptr) {
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *target.properties);
  }
  if (heuristic.try_finalize() != CUDNN_STATUS_SUCCESS) {
    return {};
  }
  std::vector<CudnnDescriptor> found;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (std::int64_t i = 0; i < kMost; ++i) {
    raw.push_back(found.emplace_back(make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)).get());
  }
  std::int64_t count = 0;
  cudnn_->check(cudnn_->cudnnBackendGetAttribute(heuristic.get(),
                                                 CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                 CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                                 kMost,
                                                 &count,
                                                 raw.data()),
                "cudnnBackendGetAttribute of the heuristic's results");
  while (static_cast<std::int64_t>(found.size()) > count) {
    found.pop_back();
  }
  return found;
}

Result<CudnnPlan> CudnnGraph::plan(const CudnnTarget& target) && {
  CudnnDescriptor graph = operations(target);
  std::string refused = "its heuristic names no engine";
  for (CudnnDescriptor& configuration : configurations(graph, target)) {
    CudnnDescriptor plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
    if (target.handle != nullptr) {
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, target.handle);
    }
    if (target.properties != nullptr) {
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *target.properties);
    }
    if (const cudnnStatus_t status = plan.try_finalize(); status != CUDNN_STATUS_SUCCESS) {
      refused = cudnn_->cudnnGetErrorString(status);
      continue;
    }
    std::int64_t workspace = 0;
    std::int64_t count = 0;
    cudnn_->check(cudnn_->cudnnBackendGetAttribute(plan.get(),
                                                   CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                                   CUDNN_TYPE_INT64,
                                                   1,
                                                   &count,
                                                   &workspace),
                  "cudnnBackendGetAttribute of the workspace");
    std::vector<CudnnDescriptor> parts = std::move(tensors_);
    std::ranges::move(inner_, std::back_inserter(parts));
    std::ranges::move(operations_, std::back_inserter(parts));
    parts.push_back(std::move(graph));
    parts.push_back(std::move(configuration));
    parts.push_back(std::move(plan));
    return CudnnPlan(std::move(parts), std::move(scalars_), static_cast<std::size_t>(workspace));
  }
  return fail(ErrorCode::kUnsupported, fmt::format("has no plan for the graph: {}", refused));
}

}  // namespace stagewright
