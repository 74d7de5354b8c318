#pragma once

#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cudnn_graph_standin.h"

namespace standin {

struct Descriptor;
using Shared = std::shared_ptr<const Descriptor>;

struct Attribute {
  cudnnBackendAttributeType_t type = CUDNN_TYPE_INT64;
  std::vector<std::int64_t> numbers;  // also enumerators, addresses and booleans
  std::vector<Shared> descriptors;
};

struct Descriptor {
  cudnnBackendDescriptorType_t type = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
  bool finalized = false;
  int engine = -1;  // of a configuration: the first cannot be made into a plan
  std::map<int, Attribute> attributes;
  std::shared_ptr<const std::vector<GraphOperation>> operations;  // of a graph, and what it became

  [[nodiscard]] bool has(int name) const { return attributes.contains(name); }
  [[nodiscard]] std::int64_t number(int name, std::int64_t otherwise = 0) const {
    const auto found = attributes.find(name);
    return found == attributes.end() ? otherwise : found->second.numbers.at(0);
  }
  [[nodiscard]] Shared descriptor(int name) const {
    const auto found = attributes.find(name);
    return found == attributes.end() ? nullptr : found->second.descriptors.at(0);
  }
};

/// Bytes of a value.
[[nodiscard]] std::size_t width_of(cudnnBackendAttributeType_t type);
/// The attributes without which a descriptor is not complete.
[[nodiscard]] std::vector<int> needed(cudnnBackendDescriptorType_t type);
/// What the descriptor of an operation says.
[[nodiscard]] GraphOperation operation_of(const Descriptor& of);

}  // namespace standin
