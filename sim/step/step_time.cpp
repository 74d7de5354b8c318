#include "sim/step/step_time.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/step/layer_time.h"
#include "sim/step/stage_layers.h"
#include "sim/step/step_part.h"
#include "sim/step/step_traffic.h"

namespace stagewright {

bool has_bubble_term(std::string_view schedule) {
  constexpr std::array<std::string_view, 12> kPriced{"",
                                                     "gpipe",
                                                     "afab",
                                                     "1f1b",
                                                     "eager-1f1b",
                                                     "pipedream-flush",
                                                     "interleaved",
                                                     "interleaved-1f1b",
                                                     "interleaved_1f1b",
                                                     "1f1b-interleaved",
                                                     "looped-bfs",
                                                     "bfs"};
  return std::ranges::find(kPriced, schedule) != kPriced.end();
}

namespace {

/// The stages' times per micro-batch, as far as the pipeline needs them.
struct Pipeline {
  Part slowest;
  double sum = 0;  ///< of all stages, forward and backward
  double slowest_backward = 0;
  StageLayers layers;
};

/// A layer of the encoder.
Part encoder_part(const Pieces& pieces) {
  TrainingSetup setup = *pieces.setup;
  setup.run = encoder_of(setup.run);
  const Pieces own = pieces_of(setup, *pieces.constants);
  return layer_part(own, dense_layer(setup, own.choices, own.rates), false);
}

Pipeline pipeline_of(const Pieces& pieces) {
  const TrainingRun& run = pieces.run();
  const bool mixed = run.experts.has_value();
  const LayerTime dense = dense_layer(*pieces.setup, pieces.choices, pieces.rates);
  const Part dense_part = layer_part(pieces, dense, false);
  Part typical = dense_part;
  if (mixed) {
    const LayerTime sparse = expert_layer(
        *pieces.setup, pieces.choices, pieces.rates, pieces.get(StepConstant::kExpertTraffic));
    const double share =
        static_cast<double>(run.experts->dense_layers) / static_cast<double>(run.shape.layers);
    typical = Part{};
    typical.add(layer_part(pieces, sparse, true), 1 - share).add(dense_part, share);
  }
  if (run.encoder) {
    // Every layer stands for its share of the encoder's, which are divided over the stages alike.
    typical.add(encoder_part(pieces),
                static_cast<double>(run.encoder->layers) / static_cast<double>(run.shape.layers));
  }
  const bool spread = run.vocabulary_placement == VocabularyPlacement::kAllStages ||
                      run.vocabulary_placement == VocabularyPlacement::kAllStagesOnce ||
                      run.vocabulary_placement == VocabularyPlacement::kInterlaced;
  const double share = spread ? static_cast<double>(run.tp) * run.pp : run.tp;
  // The rows' maxima and sums, and the input's gradient; the looked-up rows.
  const Part head =
      end_part(pieces, head_time(*pieces.setup, pieces.choices, pieces.rates, share), 3);
  const Part embedding =
      end_part(pieces, embedding_time(*pieces.setup, pieces.choices, pieces.rates), 1);

  Pipeline pipeline;
  pipeline.layers =
      stage_layers(*pieces.setup, typical.total(), embedding.total(), spread ? 0 : head.total());
  const StageLayers& layers = pipeline.layers;
  const auto stage = [&](double count, bool first, bool last) {
    Part part;
    part.add(typical, count);
    if (first && !spread) {
      part.add(embedding, 1);
    }
    if (last || spread) {
      part.add(head, 1);
    }
    return part;
  };
  const auto take = [&](const Part& part) {
    pipeline.sum += part.total();
    if (part.total() > pipeline.slowest.total()) {
      pipeline.slowest = part;
    }
  };
  if (run.pp == 1) {
    take(stage(layers.first, true, true));
  } else {
    take(stage(layers.first, true, false));
    take(stage(layers.last, false, true));
    if (run.pp > 2) {
      take(stage(layers.middle_most, false, false));
      pipeline.sum += stage(layers.middle_sum, false, false).total() -
                      stage(layers.middle_most, false, false).total();
      if (spread) {
        pipeline.sum += (run.pp - 3) * head.total();
      }
    }
  }
  pipeline.slowest_backward = pipeline.slowest.backward;
  return pipeline;
}

void add_bubble(StepTime& step, const Pieces& pieces, const Pipeline& pipeline) {
  const TrainingRun& run = pieces.run();
  if (run.pp == 1) {
    return;
  }
  const double others = std::max(0.0, pipeline.sum - pipeline.slowest.total());
  step.terms[static_cast<std::size_t>(StepTerm::kBubble)] = others / run.virtual_stages;
  const bool scattered =
      pieces.choices.sequence_parallel || pieces.setup->framework.scatters_transfers;
  const double width = scattered ? static_cast<double>(run.tp) : 1.0;
  const double bytes =
      tokens_of(run) * static_cast<double>(run.shape.hidden) * pieces.rates.element / width;
  const std::int64_t distance = std::int64_t{run.tp} * run.cp * run.dp;
  const double message = message_seconds(bytes, *pieces.setup, *pieces.constants, distance);
  const bool overlapped = pieces.setup->framework.overlap_transfers;
  const double exposed = overlapped ? pieces.get(StepConstant::kTransferExposed) : 1;
  const double crossings =
      2.0 * run.virtual_stages * static_cast<double>(run.micro_batches) * exposed +
      2.0 * (run.pp - 1);
  step.terms[static_cast<std::size_t>(StepTerm::kTransfers)] = crossings * message;
}

/// Parameters on the rank that holds most of them, experts apart.
struct RankParameters {
  double shared = 0;   ///< reduced over dp * cp
  double experts = 0;  ///< reduced over dp * cp / ep (more where the experts are whole per tp rank)
};

RankParameters rank_parameters(const Pieces& pieces, const StageLayers& layers) {
  const TrainingRun& run = pieces.run();
  const ParameterCounts counts = parameter_counts(run);
  const double blocks = counts.total - counts.embedding - counts.head - counts.expert;
  const double most = std::max({layers.first, layers.last, layers.middle_most}) /
                      static_cast<double>(run.shape.layers);
  RankParameters rank;
  const double ends =
      run.pp == 1 ? counts.embedding + counts.head : std::max(counts.embedding, counts.head);
  rank.shared = (blocks * most + ends) / run.tp;
  rank.experts = counts.expert * most / run.ep / run.expert_tp.value_or(1);
  if (pieces.setup->framework.experts_divided_by_tensor && !run.expert_tp) {
    rank.experts = counts.expert * most / run.ep / run.tp;
  }
  return rank;
}

/// ZeRO-3: parameters are gathered for each forward and backward, gradients scattered; where a
/// group of replicas holds a whole copy, the shards' gradients are then summed among the groups
/// (hybrid sharding, Zhao et al. 2023, section 3.2.2).
double sharded_traffic(const Pieces& pieces, double parameters, std::int64_t replicas) {
  const TrainingRun& run = pieces.run();
  const double units = static_cast<double>(run.shape.layers) / run.pp;
  const std::int64_t members =
      run.shard_group > 0 ? std::min<std::int64_t>(run.shard_group, replicas) : replicas;
  const GroupGeometry group = strided_group(*pieces.setup, *pieces.constants, members, run.tp);
  const double gather = traffic_seconds(
      OpKind::kAllGather, parameters * pieces.rates.element, group, *pieces.constants, units);
  const double scatter = traffic_seconds(OpKind::kReduceScatter,
                                         parameters * (pieces.choices.gradient_32 ? 4 : 2),
                                         group,
                                         *pieces.constants,
                                         units);
  double sum = 0;
  if (members < replicas) {
    const GroupGeometry copies = strided_group(
        *pieces.setup, *pieces.constants, replicas / members, std::int64_t{run.tp} * members);
    sum = traffic_seconds(
        OpKind::kAllReduce,
        parameters * (pieces.choices.gradient_32 ? 4 : 2) / static_cast<double>(members),
        copies,
        *pieces.constants,
        units);
  }
  return static_cast<double>(run.micro_batches) * (2 * gather + scatter + sum);
}

double replicated_traffic(const Pieces& pieces,
                          double parameters,
                          const GroupGeometry& group,
                          double backward) {
  const TrainingRun& run = pieces.run();
  const double gradient = parameters * (pieces.choices.gradient_32 ? 4 : 2);
  const double buckets = bucket_pieces(gradient, pieces.setup->framework.gradient_bucket);
  const double overlap = pieces.get(StepConstant::kReplicaOverlap);
  double reduce = 0;
  double gather = 0;
  if (run.zero_stage == 0) {
    reduce = traffic_seconds(OpKind::kAllReduce, gradient, group, *pieces.constants, buckets);
  } else {
    reduce = traffic_seconds(OpKind::kReduceScatter, gradient, group, *pieces.constants, buckets);
    gather = traffic_seconds(
        OpKind::kAllGather, parameters * pieces.rates.element, group, *pieces.constants, buckets);
  }
  const double reduce_hidden =
      pieces.choices.overlap_gradients ? std::min(overlap * reduce, backward) : 0;
  const double gather_hidden =
      pieces.choices.overlap_gather ? std::min(overlap * gather, backward / 2) : 0;
  double owners = 0;
  if (run.zero_stage > 0 && pieces.setup->framework.broadcasts_by_owner) {
    owners = pieces.get(StepConstant::kOwnerMillis) * 1e-3 *
             (run.shard_group > 0 ? run.shard_group : run.dp);
  }
  return reduce + gather - reduce_hidden - gather_hidden + owners;
}

/// The embedding table's gradient, summed between the two ends of the pipeline that hold it.
void add_tied_table(StepTime& step, const Pieces& pieces) {
  const TrainingRun& run = pieces.run();
  if (run.pp == 1 || !run.shape.tied_embeddings) {
    return;
  }
  const std::int64_t distance = std::int64_t{run.tp} * run.dp * run.cp * (run.pp - 1);
  const bool one_node = run.devices() <= pieces.setup->domain;
  const GroupGeometry ends =
      strided_group(*pieces.setup, *pieces.constants, 2, one_node ? 1 : distance);
  const double table = static_cast<double>(run.shape.vocabulary * run.shape.hidden) / run.tp;
  step.terms[static_cast<std::size_t>(StepTerm::kGradientTraffic)] += traffic_seconds(
      OpKind::kAllReduce, table * (pieces.choices.gradient_32 ? 4 : 2), ends, *pieces.constants);
}

void add_data_parallel(StepTime& step, const Pieces& pieces, const Pipeline& pipeline) {
  const TrainingRun& run = pieces.run();
  const RankParameters rank = rank_parameters(pieces, pipeline.layers);
  const std::int64_t replicas = std::int64_t{run.dp} * run.cp;
  const double shards = run.zero_stage == 0
                            ? 1.0
                            : static_cast<double>(run.shard_group > 0 ? run.shard_group : replicas);
  const double expert_replicas =
      std::max(1.0,
               static_cast<double>(replicas) * run.tp /
                   (static_cast<double>(run.ep) * run.expert_tp.value_or(1)));
  const double state =
      rank.shared / shards + rank.experts / (run.zero_stage == 0 ? 1.0 : expert_replicas);
  step.terms[static_cast<std::size_t>(StepTerm::kOptimizer)] =
      state * pieces.get(StepConstant::kOptimizerBytes) / pieces.rates.optimizer;
  if (replicas <= 1) {
    return;
  }
  double& term = step.terms[static_cast<std::size_t>(StepTerm::kGradientTraffic)];
  if (run.zero_stage == 3) {
    const double traffic = sharded_traffic(pieces, rank.shared + rank.experts, replicas);
    const double busy = static_cast<double>(run.micro_batches) * pipeline.slowest.total();
    const double both = std::min(traffic, busy);
    const double hidden = pieces.get(StepConstant::kShardedOverlap) * both;
    term = traffic - hidden + (pieces.get(StepConstant::kOverlapSlowdown) - 1) * hidden;
    return;
  }
  const double backward = pipeline.slowest_backward;
  const GroupGeometry group = strided_group(*pieces.setup, *pieces.constants, replicas, run.tp);
  term = replicated_traffic(pieces, rank.shared, group, backward);
  if (rank.experts > 0 && expert_replicas > 1) {
    const GroupGeometry expert_group =
        strided_group(*pieces.setup,
                      *pieces.constants,
                      static_cast<std::int64_t>(expert_replicas),
                      std::int64_t{run.ep} * run.expert_tp.value_or(1));
    term += replicated_traffic(pieces, rank.experts, expert_group, backward);
  }
}

}  // namespace

Result<void> can_price(const TrainingSetup& setup) {
  if (setup.device.peak.empty()) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("device '{}' names no peak rate", setup.device.name));
  }
  if (!has_bubble_term(setup.run.schedule)) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("the closed form has no term for the bubble of {}; `stagewright "
                            "simulate` times a plan with any schedule",
                            setup.run.schedule),
                "plan.schedule");
  }
  return check(setup.run);
}

StageLayers rank_layers_of(const TrainingSetup& setup, const StepConstants& constants) {
  return pipeline_of(pieces_of(setup, constants)).layers;
}

StepTime step_time(const TrainingSetup& setup, const StepConstants& constants) {
  const Pieces pieces = pieces_of(setup, constants);
  const Pipeline pipeline = pipeline_of(pieces);
  StepTime step;
  for (std::size_t i = 0; i < kStepTermCount; ++i) {
    step.terms[i] = pipeline.slowest.terms[i] * static_cast<double>(setup.run.micro_batches);
  }
  add_bubble(step, pieces, pipeline);
  add_data_parallel(step, pieces, pipeline);
  if (setup.run.zero_stage != 3) {
    add_tied_table(step, pieces);
  }
  step.terms[static_cast<std::size_t>(StepTerm::kFixed)] =
      constants[StepConstant::kStepMillis] * 1e-3;
  double total = 0;
  for (const double term : step.terms) {
    total += term;
  }
  const double nodes =
      std::max(1.0, static_cast<double>(setup.run.devices()) / static_cast<double>(setup.domain));
  const double straggle = total * constants[StepConstant::kStraggle] * std::log2(nodes);
  step.terms[static_cast<std::size_t>(StepTerm::kStragglers)] = straggle;
  step.seconds = total + straggle;
  step.deviation =
      std::hypot(step_deviation(step, constants.band), device_deviation(setup.device, constants));
  return step;
}

}  // namespace stagewright
