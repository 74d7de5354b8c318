#include "cudnn_descriptor.h"

namespace standin {

namespace {

[[nodiscard]] GraphTensor tensor_of(const Descriptor& of) {
  GraphTensor tensor;
  tensor.id = of.number(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  tensor.type = static_cast<cudnnDataType_t>(of.number(CUDNN_ATTR_TENSOR_DATA_TYPE));
  tensor.passing = of.number(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0;
  tensor.by_value = of.number(CUDNN_ATTR_TENSOR_IS_BY_VALUE) != 0;
  for (std::size_t i = 0; i < 4; ++i) {
    tensor.sizes[i] = of.attributes.at(CUDNN_ATTR_TENSOR_DIMENSIONS).numbers.at(i);
    tensor.strides[i] = of.attributes.at(CUDNN_ATTR_TENSOR_STRIDES).numbers.at(i);
  }
  return tensor;
}

}  // namespace

std::size_t width_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    case CUDNN_TYPE_BOOLEAN:
      return 1;
    default:
      return 4;
  }
}

std::vector<int> needed(cudnnBackendDescriptorType_t type) {
  switch (type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return {CUDNN_ATTR_TENSOR_UNIQUE_ID,
              CUDNN_ATTR_TENSOR_DATA_TYPE,
              CUDNN_ATTR_TENSOR_DIMENSIONS,
              CUDNN_ATTR_TENSOR_STRIDES,
              CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT};
    case CUDNN_BACKEND_MATMUL_DESCRIPTOR:
      return {CUDNN_ATTR_MATMUL_COMP_TYPE};
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
      return {CUDNN_ATTR_POINTWISE_MODE, CUDNN_ATTR_POINTWISE_MATH_PREC};
    case CUDNN_BACKEND_REDUCTION_DESCRIPTOR:
      return {CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_ATTR_REDUCTION_COMP_TYPE};
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      return {CUDNN_ATTR_OPERATION_MATMUL_ADESC,
              CUDNN_ATTR_OPERATION_MATMUL_BDESC,
              CUDNN_ATTR_OPERATION_MATMUL_CDESC,
              CUDNN_ATTR_OPERATION_MATMUL_DESC};
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
      return {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
              CUDNN_ATTR_OPERATION_POINTWISE_YDESC};
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      return {CUDNN_ATTR_OPERATION_REDUCTION_DESC,
              CUDNN_ATTR_OPERATION_REDUCTION_XDESC,
              CUDNN_ATTR_OPERATION_REDUCTION_YDESC};
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      return {CUDNN_ATTR_OPERATION_RESHAPE_XDESC, CUDNN_ATTR_OPERATION_RESHAPE_YDESC};
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      return {CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_ATTR_OPERATIONGRAPH_HANDLE};
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_ATTR_ENGINEHEUR_MODE};
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      return {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_ATTR_EXECUTION_PLAN_HANDLE};
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      return {CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
              CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
              CUDNN_ATTR_VARIANT_PACK_WORKSPACE};
    default:
      return {};
  }
}

GraphOperation operation_of(const Descriptor& of) {
  GraphOperation operation;
  const auto tensor = [&of](int name) { return tensor_of(*of.descriptor(name)); };
  switch (of.type) {
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      operation.kind = GraphOperationKind::kMatmul;
      operation.inputs = {tensor(CUDNN_ATTR_OPERATION_MATMUL_ADESC),
                          tensor(CUDNN_ATTR_OPERATION_MATMUL_BDESC)};
      operation.output = tensor(CUDNN_ATTR_OPERATION_MATMUL_CDESC);
      break;
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: {
      const Shared how = of.descriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
      operation.kind = GraphOperationKind::kPointwise;
      operation.mode = static_cast<cudnnPointwiseMode_t>(how->number(CUDNN_ATTR_POINTWISE_MODE));
      operation.axis = how->number(CUDNN_ATTR_POINTWISE_AXIS, -1);
      for (const int name : {CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                             CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                             CUDNN_ATTR_OPERATION_POINTWISE_TDESC}) {
        if (of.has(name)) {
          operation.inputs.push_back(tensor(name));
        }
      }
      operation.output = tensor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
      break;
    }
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      operation.kind = GraphOperationKind::kReduction;
      operation.reduction =
          static_cast<cudnnReduceTensorOp_t>(of.descriptor(CUDNN_ATTR_OPERATION_REDUCTION_DESC)
                                                 ->number(CUDNN_ATTR_REDUCTION_OPERATOR));
      operation.inputs = {tensor(CUDNN_ATTR_OPERATION_REDUCTION_XDESC)};
      operation.output = tensor(CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
      break;
    default:
      operation.kind = GraphOperationKind::kReshape;
      operation.inputs = {tensor(CUDNN_ATTR_OPERATION_RESHAPE_XDESC)};
      operation.output = tensor(CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
      break;
  }
  return operation;
}

}  // namespace standin
