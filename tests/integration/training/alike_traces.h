#pragma once

#include "core/trace/trace.h"

namespace stagewright {

/// Expects as many steps, and each step's loss and gradient norm within `tolerance` of the expected
/// one, as a share of it.
void expect_alike(const Trace& actual, const Trace& expected, double tolerance);

}  // namespace stagewright
