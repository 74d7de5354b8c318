#pragma once

#include <cstdint>

#include "core/cluster/device.h"
#include "core/training/framework.h"
#include "core/training/training_run.h"

namespace stagewright {

/// A training run with the machine and the framework that execute it: all that a prediction of its
/// step time and memory needs.
struct TrainingSetup {
  TrainingRun run;
  DeviceType device;
  /// Links of this cluster, where they differ from the device's usual ones: copies, so that nothing
  /// else is looked up.
  LinkSpec intra_node;
  LinkSpec inter_node;
  std::int32_t domain = 8;  ///< devices that reach each other over `intra_node`
  FrameworkProfile framework;
  friend bool operator==(const TrainingSetup&, const TrainingSetup&) = default;
};

}  // namespace stagewright
