#pragma once

#include <cstdint>
#include <vector>

#include "core/base/dtype.h"
#include "core/model/model_graph.h"
#include "core/training/training_run.h"
#include "planner/search/constraint.h"

namespace stagewright {

/// What the values of dimensions depend on beside each other: the training job.
struct SpaceJob {
  const ModelGraph* model = nullptr;
  std::int64_t devices = 1;
  std::int64_t devices_per_node = 1;
  std::int64_t global_batch = 1;  ///< sequences
  std::int32_t sequence = 1;      ///< tokens
  DType compute = DType::kBFloat16;
  std::vector<std::int32_t> tensor_degrees;  ///< that the model's sizes allow, ascending
  std::int32_t experts = 0;                  ///< of a layer; 0: a dense model
  /// Points that lowering cannot execute are in the space, priced in closed form.
  bool closed_form_only = false;
  /// Stages are cut in every possible way where there are at most so many.
  std::int64_t every_cut_up_to = 128;
  Constraints constraints;

  [[nodiscard]] std::int32_t layers() const {
    return static_cast<std::int32_t>(model->layers.size());
  }
  /// The constraint on that dimension, or null.
  [[nodiscard]] const ValueSet* constraint(std::string_view name) const {
    const auto found = constraints.find(name);
    return found == constraints.end() ? nullptr : &found->second;
  }
};

}  // namespace stagewright
