#pragma once

#include <map>
#include <string>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "runtime/profiler/profiler.h"

namespace stagewright {

/// What a profile on a device of CUDA says about where it was measured.
struct ProfiledDevice {
  std::string type = "cpu";                    ///< canonical device type
  std::map<std::string, std::string> made_by;  ///< library, device, clocks where they are not known
};

/// Lets the profiler measure on the first device of CUDA, which all ranks share, with its clocks
/// watched.  `type` names the device's type; empty: the one whose alias is the device's name.
/// kUnsupported without the device, kNotFound for a type that is not known.
[[nodiscard]] Result<ProfiledDevice> profile_on_cuda(const DataFiles& files,
                                                     const std::string& type,
                                                     ProfileOptions& options);

}  // namespace stagewright
