#pragma once

#include <cstdint>

#include "core/training/framework.h"
#include "core/training/training_run.h"

namespace stagewright {

/// Parameters on one rank, by what divides their state further.
struct StageParameters {
  double dense = 0;   ///< state is divided over dp * cp
  double expert = 0;  ///< state is divided over the replicas of an expert
  double root = 0;    ///< of `dense`: embedding and output layer
  friend bool operator==(const StageParameters&, const StageParameters&) = default;
};

/// Parameters of one transformer layer on one rank: matrices divided by tp (key and value heads
/// below tp are replicated), norms whole, experts divided by ep and their own tp; with its share of
/// an encoder's layers.
[[nodiscard]] StageParameters layer_parameters(const TrainingRun& run,
                                               const FrameworkProfile& framework);

/// Parameters on a rank of pipeline rank `rank`, embedding, positions, final norm and output layer
/// included where they lie.  A tied table is held by both ends of a pipeline.  The vocabulary is
/// padded as the framework does.  The sum over all ranks of one tp = 1, unpadded pipeline is
/// parameter_counts(run).total, plus one tied table.
[[nodiscard]] StageParameters stage_parameters(const TrainingRun& run,
                                               const FrameworkProfile& framework,
                                               std::int32_t rank);

/// The same from `layer`, which layer_parameters() gave.
[[nodiscard]] StageParameters stage_parameters(const TrainingRun& run,
                                               const FrameworkProfile& framework,
                                               const StageParameters& layer,
                                               std::int32_t rank);

/// Vocabulary entries with padding, over all tensor ranks.
[[nodiscard]] double padded_vocabulary(const TrainingRun& run, const FrameworkProfile& framework);

/// Members over which an expert is divided by columns.
[[nodiscard]] std::int32_t expert_tensor_degree(const TrainingRun& run,
                                                const FrameworkProfile& framework);

/// Replicas of one expert: what its gradients are reduced over.
[[nodiscard]] double expert_replicas(const TrainingRun& run, const FrameworkProfile& framework);

}  // namespace stagewright
