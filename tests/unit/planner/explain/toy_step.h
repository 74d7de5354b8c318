#pragma once

#include <cstdint>

#include "core/cluster/cluster.h"
#include "core/model/transformer.h"
#include "core/plan/plan.h"
#include "planner/explain/explain_job.h"

namespace stagewright {

/// A machine so simple that the time of a step follows by hand: products at the peak rate (with the
/// 128 columns that fill a tile), everything else in no time but what a test makes slow.
struct ToyMachine {
  std::int32_t nodes = 1;
  std::int32_t devices = 1;  ///< of a node
  double peak = 1e13;
  double optimizer = 1e18;  ///< bytes per second
  double inside = 1e15;     ///< the same of links inside nodes
  double between = 1e15;
  double latency_inside = 0;  ///< seconds
  double latency_between = 0;
  std::int32_t devices_per_nic = 1;
  std::int64_t memory = std::int64_t{1} << 50;
};
[[nodiscard]] Cluster toy_cluster(const ToyMachine& machine);

/// GPT-2's kind of model.
struct ToyModel {
  std::int64_t blocks = 8;
  std::int64_t hidden = 1024;
  std::int64_t vocabulary = 128;
  std::int64_t sequence = 256;
  [[nodiscard]] ModelGraph graph() const;

  // Seconds of one micro-batch of one sequence on a device of that peak rate, from the sizes of
  // the products alone.
  [[nodiscard]] double block_forward(double peak, std::int64_t tp = 1) const;
  [[nodiscard]] double block_backward(double peak, std::int64_t tp = 1) const;
  [[nodiscard]] double head_forward(double peak, std::int64_t tp = 1) const;
  [[nodiscard]] double head_backward(double peak, std::int64_t tp = 1) const;
  /// Forward and backward of everything.
  [[nodiscard]] double all(double peak, std::int64_t tp = 1) const;

  [[nodiscard]] double activation_bytes() const;  ///< of one sequence between layers, fp32
  [[nodiscard]] double parameters() const;
};

/// fp32, even stages, AdamW, one sequence per micro-batch.
struct ToyDegrees {
  std::int32_t dp = 1;
  std::int32_t tp = 1;
  std::int32_t pp = 1;
  std::int32_t micro_batches = 1;
};
[[nodiscard]] Plan toy_plan(const ToyModel& model, const ToyDegrees& degrees);

/// A job with prices of the roofline, without any rules of execution.
[[nodiscard]] ExplainJob toy_job(const ToyModel& model, Cluster cluster);

}  // namespace stagewright
