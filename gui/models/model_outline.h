#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "gui/models/plan_setup.h"

namespace stagewright::gui {

/// A matrix product, norm, ... of a layer.
struct OutlineOp {
  std::string name;
  std::int64_t parameters = 0;
  Flops flops;  ///< forward and backward of one sequence
};

/// Layers that follow each other and are equal but for their names.
struct OutlineLayers {
  std::string name;  ///< "block.0 to block.79"
  std::int64_t count = 1;
  std::vector<OutlineOp> ops;   ///< of one of them
  std::int64_t parameters = 0;  ///< of one of them
  Flops flops;
  // One sequence on a device alone; zero where that cannot be priced.
  Duration forward{};
  Duration backward{};
  Bytes kept{};  ///< activations, from forward to backward
};

/// A model as a tree of layers with what they cost.
struct ModelOutline {
  std::string name;
  std::int64_t parameters = 0;  ///< tied ones once
  std::int32_t sequence = 0;    ///< tokens
  Flops flops;                  ///< of one sequence, forward and backward
  std::vector<OutlineLayers> layers;
};

/// Prices are those of the cluster's first device.  Fails where there is no such model.
[[nodiscard]] Result<ModelOutline> outline_of(const DataFiles& files, const PlanSetup& setup);

}  // namespace stagewright::gui
