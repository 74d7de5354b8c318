#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "core/profile/profile.h"
#include "formats/measured_record.h"
#include "formats/nccl_tests.h"
#include "sim/cost/step_constants.h"
#include "study/calibrate.h"

namespace stagewright {

/// An nccl-tests log with the devices that it was taken on.
struct CollectiveRun {
  CollectiveLog log;
  std::int32_t nodes = 1;
  std::int32_t per_node = 8;
};

/// What a user measured on an own cluster; any part may be absent, not all.
struct ClusterMeasurements {
  std::vector<RecordLine> steps;           ///< a few logged training steps
  std::optional<Profile> node;             ///< `stagewright profile` of one node
  std::vector<CollectiveRun> collectives;  ///< between its devices
  std::string device;                      ///< of the collectives; empty: the profile's
};

struct ClusterCalibration {
  StepConstants constants;
  std::vector<FittedConstant> moved;  ///< against the calibration that it started from
  /// The device file with the measured links in it: name ("hardware/h100-80gb-sxm.json"), content.
  std::optional<std::pair<std::string, std::string>> device_file;
  std::vector<std::string> findings;  ///< one line for each part: what it was fitted to, how well
};

/// Starts from the calibration of `files` and moves only what a cluster and its programs differ in:
/// * a node's profile: the shares that its matrix products, attention and element-wise operations
///   reach, in the ratio of measured to predicted times of single operations, and its inner links;
/// * nccl-tests logs: latency, reachable share and ramp of the links inside and between nodes;
/// * logged steps: network share, latency per node, stragglers, exposed collectives, host time per
///   kernel and rates, each held to where it starts (study/calibrate.h).
/// Each part starts from what the one before it found.  Fails where no part is given, for a device
/// that is unknown or has no architecture to calibrate, and where no logged step can be used.
[[nodiscard]] Result<ClusterCalibration> calibrate_cluster(const DataFiles& files,
                                                           const ClusterMeasurements& measured);

}  // namespace stagewright
