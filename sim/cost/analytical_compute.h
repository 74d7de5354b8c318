#pragma once

#include "core/base/units.h"
#include "core/cluster/device.h"
#include "core/schedule/operation.h"

namespace stagewright {

/// Time of a compute operation alone on a device: the roofline (Williams, Waterman and Patterson
/// 2009) with the device's efficiencies per class of operation, plus its overhead per kernel.
///
///   matrix     max(2mn(k + 128) / (e peak), bytes / (e_mem bandwidth)) + overhead
///   attention  max(FLOPs (s + 700) / (s e peak), bytes / (e_mem bandwidth)) + overhead
///   others     bytes / (e bandwidth) + overhead
///
/// docs/costs.md derives the constants.  REQUIRES: not a collective.
[[nodiscard]] Duration compute_time(const Operation& op, const DeviceType& device);

/// Rate of the matrix units for an element type.  A type that the device lacks runs as the next
/// wider one that it has.  Zero where the device file names no rate at all.
[[nodiscard]] FlopsPerSecond matrix_peak(const DeviceType& device, DType type);

}  // namespace stagewright
