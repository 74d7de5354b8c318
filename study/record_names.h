#pragma once

#include <string>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "core/cluster/device.h"
#include "core/training/framework.h"

namespace stagewright {

/// The device of that name; or of the names that its words allow: "NVIDIA H100 80GB SXM5",
/// "A100-SXM4-40GB" and "h100_sxm" mean the model, memory and form of a device file; else the
/// longest name or alias that stands among the words ("NVIDIA GeForce RTX 4090", "Tesla T4").
[[nodiscard]] Result<DeviceType> device_named(const DataFiles& files, const std::string& words);

/// The framework of that name; or the one whose name or alias the words begin with: "NeMo 24.05",
/// "Megatron-LM (core 0.7)", "DeepSpeed ZeRO-3", else that stands among them: "Hugging Face with
/// DeepSpeed".  Fails where there is none.
[[nodiscard]] Result<FrameworkProfile> framework_named(const DataFiles& files,
                                                       const std::string& words);

}  // namespace stagewright
