#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "core/profile/profile.h"
#include "core/training/training_setup.h"
#include "planner/explain/explain_job.h"

namespace stagewright {

/// A job of that model and cluster, its steps priced as `simulate` prices them with that framework
/// and profile, on whichever cluster is asked about.  The request has no batch yet.  Fails where
/// the framework is unknown or a data file is broken.
[[nodiscard]] Result<ExplainJob> explain_job(const DataFiles& files,
                                             ModelGraph model,
                                             Cluster cluster,
                                             const std::string& framework,
                                             std::optional<Profile> profile);

/// A plan as the closed form sees it.
[[nodiscard]] Result<TrainingSetup> setup_of(const DataFiles& files,
                                             const ExplainJob& job,
                                             const Plan& plan,
                                             const std::string& framework);

/// The device of the data files that is next faster in matrix products of that type, or the next
/// slower one where none is faster; nothing for a device without an architecture.
[[nodiscard]] std::optional<DeviceType> next_device(const DataFiles& files,
                                                    const DeviceType& device,
                                                    DType type);

}  // namespace stagewright
