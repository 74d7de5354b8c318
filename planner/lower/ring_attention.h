#pragma once

#include "planner/lower/layer_writer.h"

namespace stagewright {

/// Attention to the tokens that the other members of a context group have (axes/context.h): keys
/// and values go round the ring of the members, and each joins its queries with what comes by.  The
/// next ones are on their way while a member computes with the last.  Both calls stand around the
/// attention of the member's tokens to each other, which `own` is.

/// Emits the forward.  Joins the results with the outputs of `own`.
void emit_ring_forward(LayerWriter& writer, const LayerOp& op, const Operation& own);

/// Emits the backward.  Keys and values go round once more; behind them come their gradients, to
/// which each member adds while it computes the next ones, until they are home.  Adds to the
/// gradient that `own` makes.
void emit_ring_backward(LayerWriter& writer, const LayerOp& op, const Operation& own);

}  // namespace stagewright
