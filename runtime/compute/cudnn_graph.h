#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "runtime/libraries/cudnn_library.h"

namespace stagewright {

/// A descriptor of cuDNN's backend interface.  Setters throw BackendError.
class CudnnDescriptor {
 public:
  CudnnDescriptor(std::shared_ptr<const CudnnLibrary> cudnn, cudnnBackendDescriptorType_t type);
  CudnnDescriptor(CudnnDescriptor&& other) noexcept;
  CudnnDescriptor& operator=(CudnnDescriptor&& other) noexcept;
  CudnnDescriptor(const CudnnDescriptor&) = delete;
  CudnnDescriptor& operator=(const CudnnDescriptor&) = delete;
  ~CudnnDescriptor();

  [[nodiscard]] cudnnBackendDescriptor_t get() const { return descriptor_; }

  template <class Value>
  void set(cudnnBackendAttributeName_t name,
           cudnnBackendAttributeType_t type,
           std::span<const Value> values) {
    set_bytes(name, type, static_cast<std::int64_t>(values.size()), values.data());
  }
  template <class Value>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const Value& value) {
    set_bytes(name, type, 1, &value);
  }
  void set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) {
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, value.descriptor_);
  }
  void finalize();
  /// The status instead of an exception.
  [[nodiscard]] cudnnStatus_t try_finalize();

 private:
  void set_bytes(cudnnBackendAttributeName_t name,
                 cudnnBackendAttributeType_t type,
                 std::int64_t count,
                 const void* values);

  std::shared_ptr<const CudnnLibrary> cudnn_;
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

/// What a plan is made for: a device, by its handle, or one that need not be there, by its
/// properties (CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR); such a plan cannot run.
struct CudnnTarget {
  cudnnHandle_t handle = nullptr;
  const CudnnDescriptor* properties = nullptr;
};

/// A tensor of a graph: [batch, heads, rows, columns].
struct CudnnTensor {
  std::int64_t id = 0;
  std::array<std::int64_t, 4> sizes{};
  std::array<std::int64_t, 4> strides{};
};

/// A graph of operations that became an engine's plan.
class CudnnPlan {
 public:
  /// `parts`: the plan, and all that it was made of.
  CudnnPlan(std::vector<CudnnDescriptor> parts,
            std::map<std::int64_t, float> scalars,
            std::size_t workspace);

  [[nodiscard]] std::size_t workspace() const { return workspace_; }
  struct Place {
    std::int64_t tensor = 0;
    void* data = nullptr;
  };
  /// Puts it on the handle's stream.  REQUIRES: a place for every tensor in memory.
  void run(const std::shared_ptr<const CudnnLibrary>& cudnn,
           cudnnHandle_t handle,
           std::span<const Place> places,
           void* workspace);

 private:
  std::vector<CudnnDescriptor> parts_;  ///< the last is the plan
  std::map<std::int64_t, float> scalars_;
  std::size_t workspace_;
};

/// Operations over tensors of four dimensions, as cuDNN's engines take them.  Members throw
/// BackendError where cuDNN refuses a description.
class CudnnGraph {
 public:
  using Sizes = std::array<std::int64_t, 4>;

  explicit CudnnGraph(std::shared_ptr<const CudnnLibrary> cudnn) : cudnn_(std::move(cudnn)) {}

  /// In memory, aligned to 16 bytes; its place is given with each run.
  CudnnTensor in_memory(cudnnDataType_t type, const Sizes& sizes, const Sizes& strides);
  /// Nowhere outside the engine; packed.
  CudnnTensor passing(cudnnDataType_t type, const Sizes& sizes);
  CudnnTensor passing(cudnnDataType_t type, const Sizes& sizes, const Sizes& strides);
  /// A number that is part of the graph.
  CudnnTensor scalar(float value);

  /// c = a b, for each batch and head; several heads of a may share one of b.
  void matmul(const CudnnTensor& a, const CudnnTensor& b, const CudnnTensor& c);
  /// y = f(x).
  void pointwise(cudnnPointwiseMode_t mode, const CudnnTensor& x, const CudnnTensor& y);
  /// y = f(x, b).
  void pointwise(cudnnPointwiseMode_t mode,
                 const CudnnTensor& x,
                 const CudnnTensor& b,
                 const CudnnTensor& y);
  /// y = x where t, else b.
  void select(const CudnnTensor& x,
              const CudnnTensor& b,
              const CudnnTensor& t,
              const CudnnTensor& y);
  /// y = the position in a dimension (int32) of each element of x.
  void index(std::int64_t dimension, const CudnnTensor& x, const CudnnTensor& y);
  /// y (boolean) = a >= b, of int32.
  void not_less(const CudnnTensor& a, const CudnnTensor& b, const CudnnTensor& y);
  void reduce(cudnnReduceTensorOp_t op, const CudnnTensor& x, const CudnnTensor& y);
  /// The same elements in another order of dimensions.
  void reorder(const CudnnTensor& x, const CudnnTensor& y);

  /// The first plan that cuDNN's heuristic names and that can be made; kUnsupported, with cuDNN's
  /// words, where there is none.
  [[nodiscard]] Result<CudnnPlan> plan(const CudnnTarget& target) &&;

 private:
  struct Pointwise {
    cudnnPointwiseMode_t mode;
    cudnnDataType_t precision = CUDNN_DATA_FLOAT;
    std::optional<std::int64_t> axis{};
    const CudnnTensor* x;
    const CudnnTensor* b = nullptr;
    const CudnnTensor* t = nullptr;
    const CudnnTensor* y;
  };

  CudnnTensor add(cudnnDataType_t type, const Sizes& sizes, const Sizes& strides, bool passing);
  void add(const Pointwise& operation);
  [[nodiscard]] const CudnnDescriptor& described(const CudnnTensor& tensor) const {
    return tensors_[static_cast<std::size_t>(tensor.id) - 1];
  }
  [[nodiscard]] CudnnDescriptor make(cudnnBackendDescriptorType_t type) const {
    return {cudnn_, type};
  }
  [[nodiscard]] CudnnDescriptor operations(const CudnnTarget& target);
  [[nodiscard]] std::vector<CudnnDescriptor> configurations(const CudnnDescriptor& graph,
                                                            const CudnnTarget& target);

  std::shared_ptr<const CudnnLibrary> cudnn_;
  std::vector<CudnnDescriptor> tensors_;  ///< by id, from 1
  std::vector<CudnnDescriptor> inner_;    ///< of operations: modes and types
  std::vector<CudnnDescriptor> operations_;
  std::map<std::int64_t, float> scalars_;
};

}  // namespace stagewright
