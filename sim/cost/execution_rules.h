#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace stagewright {

/// How a program runs the operations of a list beyond their prices one by one: what the calibration
/// knows about whole training steps (docs/costs.md).  The default is a machine that does exactly
/// what the list says.
struct ExecutionRules {
  /// Collectives hold up the kernels behind them: what of them is hidden is taken off their prices.
  bool collectives_block = false;
  /// Added to each collective between kernels: skew of its members, and launch.  Like its latency
  /// it comes on top of a pass that the host bounds, since no queue of kernels hides it.
  Duration collective_skew{};
  /// Hidden share of a collective between kernels, latency apart; of one with a weight gradient
  /// behind it, or that gathers what one reads.
  double hidden = 0;
  double hidden_under_weights = 0;

  /// Share of an exchange of routed tokens that is not hidden.
  double exchange_exposed = 1;

  /// Buckets of gradients and parameters, once a step: hidden share, at most under a backward
  /// (under half of one).
  double reduction_hidden = 0;
  double gather_hidden = 0;
  /// Buckets that are gathered and reduced for each micro-batch: hidden share of the smaller of
  /// their traffic and the computation, which slows down meanwhile by that factor.
  double sharded_hidden = 0;
  double overlap_slowdown = 1;
  /// Gradients that live for one backward are written, not cleared and added to.
  bool fresh_gradients = false;
  /// Updated parameters are sent out by one owner after the other, each taking so long on top.
  Duration owner{};

  /// Share of a message between stages that is not hidden.
  double transfer_exposed = 1;
  /// The receiver asks for a message when it needs it and waits for all of it: the time lies in the
  /// action that reads the message, not on the link.
  bool transfers_block = false;
  /// A pass begins when its message is there and sends when all of it is done, as autograd does.
  bool passes_wait = false;
  /// Ranks that hold the same activation each send their part of it.
  bool scatters_transfers = false;

  Duration once_a_step{};
  double straggle = 0;  ///< slower per doubling of the nodes
  friend bool operator==(const ExecutionRules&, const ExecutionRules&) = default;
};

}  // namespace stagewright
