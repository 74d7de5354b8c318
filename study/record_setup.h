#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "core/training/training_setup.h"
#include "formats/measured_record.h"
#include "sim/memory/memory_constants.h"

namespace stagewright {

/// Turns records into setups: looks devices and frameworks up (each once) and reads the cluster's
/// links from the record's words ("8x200Gb/s HDR InfiniBand per node", "NVLink5 NVL72 domain").
/// What a record does not say is the device file's usual node and network.
class RecordSetups {
 public:
  explicit RecordSetups(const DataFiles& files) : files_(&files) {}

  /// Fails, naming the record's field, for a device that no file describes, a network of rate 0,
  /// and figures that the device cannot have had: more memory than it has, a step faster than its
  /// peak.  A framework whose profile names a successor is that one where the run uses what came
  /// after it (fused attention, models of LLaMA's kind, 8-bit devices).  One that no file
  /// describes, or none, gets the profile "generic"; a micro-batch that the record calls unknown is
  /// the largest power of two that leaves four micro-batches a stage (Huang et al. 2019,
  /// section 3.3) and fits into the device.
  [[nodiscard]] Result<TrainingSetup> setup_of(const MeasuredRecord& record);

  /// What `setup_of` put into this setup that the record does not say.
  [[nodiscard]] static std::vector<std::string> assumptions(const MeasuredRecord& record,
                                                            const TrainingSetup& setup);

 private:
  [[nodiscard]] Result<FrameworkProfile> framework_of(const std::string& name);
  [[nodiscard]] Result<void> choose_micro_batch(TrainingSetup& setup);

  const DataFiles* files_;
  std::map<std::string, Result<DeviceType>> devices_;
  std::map<std::string, FrameworkProfile> frameworks_;
  std::optional<MemoryConstants> memory_;
};

}  // namespace stagewright
