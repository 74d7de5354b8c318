#pragma once

#include <map>
#include <string>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "core/training/training_setup.h"
#include "formats/measured_record.h"

namespace stagewright {

/// Turns records into setups: looks devices and frameworks up (each once) and reads the cluster's
/// links from the record's words ("8x200Gb/s HDR InfiniBand per node", "NVLink5 NVL72 domain").
/// What a record does not say is the device file's usual node and network.
class RecordSetups {
 public:
  explicit RecordSetups(const DataFiles& files) : files_(&files) {}

  /// Fails for a device that no file describes.  A framework that no file describes, or none, gets
  /// the profile "generic".
  [[nodiscard]] Result<TrainingSetup> setup_of(const MeasuredRecord& record);

 private:
  const DataFiles* files_;
  std::map<std::string, Result<DeviceType>> devices_;
  std::map<std::string, FrameworkProfile> frameworks_;
};

}  // namespace stagewright
