// A stand-in for cuDNN over the stand-in of the CUDA runtime: graphs are computed operation by
// operation on the CPU, in the order of their stream.  Stricter than the real one: every descriptor
// must be complete and finalized before it is used, and a run needs a place for each tensor in
// memory, aligned and large enough, and for no other.

#include <cudnn.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cudnn_descriptor.h"
#include "cudnn_graph_standin.h"
#include "standins.h"

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

namespace {

using standin::Attribute;
using standin::Descriptor;
using standin::GraphOperation;
using standin::GraphTensor;
using standin::Shared;

/// What its engines want to write beside the results, so that a workspace that is too small is
/// found.
constexpr std::size_t kWorkspace = 4096;
constexpr std::uintptr_t kAlignment = 16;

struct Library {
  std::mutex mutex;
  std::map<void*, std::shared_ptr<Descriptor>> descriptors;
  std::set<cudnnHandle_t> handles;
};

[[nodiscard]] Library& library() {
  static auto* const made = new Library;
  return *made;
}

thread_local std::string last_error;

cudnnStatus_t refuse(cudnnStatus_t status, const std::string& text) {
  last_error = text;
  standin_problem(("cuDNN: " + text).c_str());
  return status;
}

[[nodiscard]] std::shared_ptr<Descriptor> find(cudnnBackendDescriptor_t raw) {
  const std::lock_guard lock(library().mutex);
  const auto found = library().descriptors.find(raw);
  return found == library().descriptors.end() ? nullptr : found->second;
}

[[nodiscard]] bool is_alive(std::int64_t handle) {
  const std::lock_guard lock(library().mutex);
  return library().handles.contains(reinterpret_cast<cudnnHandle_t>(handle));
}

/// A tensor of a graph is one, whichever operation names it.
[[nodiscard]] std::string objection_to_tensors(const std::vector<GraphOperation>& operations) {
  std::map<std::int64_t, GraphTensor> known;
  for (const GraphOperation& operation : operations) {
    std::vector<GraphTensor> named = operation.inputs;
    named.push_back(operation.output);
    for (const GraphTensor& tensor : named) {
      const auto [found, is_new] = known.emplace(tensor.id, tensor);
      if (!is_new && (found->second.sizes != tensor.sizes || found->second.type != tensor.type)) {
        return fmt::format("two tensors are called {}", tensor.id);
      }
    }
  }
  return {};
}

[[nodiscard]] std::string finish_graph(Descriptor& of) {
  std::vector<GraphOperation> operations;
  for (const Shared& each : of.attributes.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).descriptors) {
    operations.push_back(standin::operation_of(*each));
  }
  if (!is_alive(of.number(CUDNN_ATTR_OPERATIONGRAPH_HANDLE))) {
    return "a graph of a handle that is not there";
  }
  if (std::string wrong = objection_to_tensors(operations); !wrong.empty()) {
    return wrong;
  }
  std::string wrong = standin::objection(operations);
  of.operations = std::make_shared<const std::vector<GraphOperation>>(std::move(operations));
  return wrong;
}

[[nodiscard]] std::string finish_pack(const Descriptor& of) {
  const auto& ids = of.attributes.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).numbers;
  const auto& places = of.attributes.at(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).numbers;
  return ids.size() == places.size() && std::set(ids.begin(), ids.end()).size() == ids.size()
             ? ""
             : "a variant pack whose ids and places do not fit";
}

/// What is wrong with the descriptor as a whole; "" if nothing.
[[nodiscard]] std::string finish(Descriptor& of) {
  switch (of.type) {
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      return standin::objection(standin::operation_of(of));
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      return finish_graph(of);
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      return finish_pack(of);
    default:
      return {};
  }
}

/// A run: where all tensors are that a graph has in memory.
struct Run {
  std::shared_ptr<const std::vector<GraphOperation>> operations;
  std::map<std::int64_t, void*> places;
  std::map<std::int64_t, float> numbers;
  std::vector<std::pair<GraphTensor, bool>> touched;  // and whether it is written
  void* workspace = nullptr;

  [[nodiscard]] bool may_run() const {
    for (const auto& [tensor, writes] : touched) {
      if (!standin_may_touch(places.at(tensor.id), tensor.bytes(), "cudnnBackendExecute")) {
        return false;
      }
    }
    return standin_may_touch(workspace, kWorkspace, "the workspace of cudnnBackendExecute");
  }
};

/// "" if the places are those of the graph.
[[nodiscard]] std::string find_places(Run& run) {
  std::set<std::int64_t> used;
  const auto use = [&](const GraphTensor& tensor, bool writes) -> std::string {
    if (tensor.passing) {
      return {};
    }
    const auto found = run.places.find(tensor.id);
    if (found == run.places.end() || found->second == nullptr) {
      return fmt::format("a run without a place for tensor {}", tensor.id);
    }
    used.insert(tensor.id);
    if (tensor.by_value) {
      run.numbers[tensor.id] = *static_cast<const float*>(found->second);
      return {};
    }
    if (reinterpret_cast<std::uintptr_t>(found->second) % kAlignment != 0) {
      return fmt::format("tensor {} is not aligned to {} bytes", tensor.id, kAlignment);
    }
    run.touched.emplace_back(tensor, writes);
    return {};
  };
  for (const GraphOperation& operation : *run.operations) {
    for (const GraphTensor& input : operation.inputs) {
      if (std::string wrong = use(input, false); !wrong.empty()) {
        return wrong;
      }
    }
    if (std::string wrong = use(operation.output, true); !wrong.empty()) {
      return wrong;
    }
  }
  return used.size() == run.places.size() ? "" : "a run with a place for a tensor of no operation";
}

void compute(void* argument) {
  auto* const run = static_cast<Run*>(argument);
  if (!run->may_run()) {
    return;
  }
  std::memset(run->workspace, 0xff, kWorkspace);
  for (auto& [id, number] : run->numbers) {
    run->places[id] = &number;
  }
  standin::compute(*run->operations, run->places);
}

}  // namespace

extern "C" {

size_t cudnnGetVersion() {
  return CUDNN_VERSION;
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED"
                                              : "CUDNN_STATUS_BAD_PARAM";
}

void cudnnGetLastErrorString(char* message, size_t most) {
  std::strncpy(message, last_error.c_str(), most);
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  *handle = new cudnnContext;
  const std::lock_guard lock(library().mutex);
  library().handles.insert(*handle);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  {
    const std::lock_guard lock(library().mutex);
    if (library().handles.erase(handle) == 0) {
      return CUDNN_STATUS_BAD_PARAM;
    }
  }
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  auto made = std::make_shared<Descriptor>();
  made->type = type;
  *descriptor = made.get();
  const std::lock_guard lock(library().mutex);
  library().descriptors.emplace(made.get(), made);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  std::shared_ptr<Descriptor> last;
  const std::lock_guard lock(library().mutex);
  const auto found = library().descriptors.find(descriptor);
  if (found == library().descriptors.end()) {
    return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor is destroyed twice");
  }
  last = std::move(found->second);
  library().descriptors.erase(found);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type,
                                       int64_t count,
                                       const void* values) {
  const auto own = find(descriptor);
  if (own == nullptr || own->finalized || count < 1) {
    return refuse(CUDNN_STATUS_BAD_PARAM,
                  fmt::format("attribute {} of a descriptor that is not there or finalized",
                              static_cast<int>(name)));
  }
  Attribute attribute{.type = type, .numbers = {}, .descriptors = {}};
  const std::size_t width = standin::width_of(type);
  for (int64_t i = 0; i < count; ++i) {
    std::int64_t number = 0;
    std::memcpy(&number, static_cast<const char*>(values) + i * static_cast<int64_t>(width), width);
    attribute.numbers.push_back(number);
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
      auto other = find(reinterpret_cast<cudnnBackendDescriptor_t>(number));
      if (other == nullptr || !other->finalized) {
        return refuse(CUDNN_STATUS_BAD_PARAM,
                      fmt::format("attribute {} is a descriptor that is not finalized",
                                  static_cast<int>(name)));
      }
      attribute.descriptors.push_back(std::move(other));
    }
  }
  own->attributes[name] = std::move(attribute);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  const auto own = find(descriptor);
  if (own == nullptr || own->finalized) {
    return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor is finalized twice");
  }
  for (const int name : standin::needed(own->type)) {
    if (!own->has(name)) {
      return refuse(
          CUDNN_STATUS_BAD_PARAM,
          fmt::format(
              "a descriptor of type {} lacks attribute {}", static_cast<int>(own->type), name));
    }
  }
  if (const std::string wrong = finish(*own); !wrong.empty()) {
    return refuse(CUDNN_STATUS_BAD_PARAM, wrong);
  }
  if (own->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
    const Shared configuration = own->descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    if (configuration->engine == 0) {  // no problem: another may serve
      return CUDNN_STATUS_NOT_SUPPORTED;
    }
    own->operations = configuration->operations;
  }
  own->finalized = true;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t /*type*/,
                                       int64_t requested,
                                       int64_t* count,
                                       void* values) {
  const auto own = find(descriptor);
  if (own == nullptr || !own->finalized) {
    return refuse(CUDNN_STATUS_BAD_PARAM, "an attribute of a descriptor that is not finalized");
  }
  if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) {
    *static_cast<int64_t*>(values) = kWorkspace;
    *count = 1;
    return CUDNN_STATUS_SUCCESS;
  }
  if (name != CUDNN_ATTR_ENGINEHEUR_RESULTS || requested < 2) {
    return refuse(CUDNN_STATUS_BAD_PARAM, fmt::format("attribute {}", static_cast<int>(name)));
  }
  for (int i = 0; i < 2; ++i) {
    const auto made = find(static_cast<cudnnBackendDescriptor_t*>(values)[i]);
    if (made == nullptr || made->type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) {
      return refuse(CUDNN_STATUS_BAD_PARAM, "results of a heuristic into no configurations");
    }
    made->engine = i;
    made->finalized = true;
    made->operations = own->descriptor(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)->operations;
  }
  *count = 2;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
                                  cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  const auto what = find(plan);
  const auto with = find(pack);
  if (what == nullptr || with == nullptr || !what->finalized || !with->finalized ||
      what->operations == nullptr || !is_alive(reinterpret_cast<std::int64_t>(handle))) {
    return refuse(CUDNN_STATUS_BAD_PARAM, "a run of what is not there or not finalized");
  }
  auto run = std::make_unique<Run>();
  run->operations = what->operations;
  run->workspace =
      reinterpret_cast<void*>(with->number(CUDNN_ATTR_VARIANT_PACK_WORKSPACE));  // NOLINT
  const auto& ids = with->attributes.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).numbers;
  const auto& places = with->attributes.at(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).numbers;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    run->places[ids[i]] = reinterpret_cast<void*>(places[i]);  // NOLINT: attributes are numbers
  }
  if (const std::string wrong = find_places(*run); !wrong.empty()) {
    return refuse(CUDNN_STATUS_BAD_PARAM, wrong);
  }
  if (!run->may_run()) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  standin_begin(handle->stream);
  for (const auto& [tensor, writes] : run->touched) {
    standin_touch(handle->stream, run->places.at(tensor.id), tensor.bytes(), writes, "cuDNN");
  }
  standin_touch(handle->stream, run->workspace, kWorkspace, true, "cuDNN's workspace");
  standin_enqueue(handle->stream, compute, run.release(), [](void* argument) {
    delete static_cast<Run*>(argument);
  });
  return CUDNN_STATUS_SUCCESS;
}
}
