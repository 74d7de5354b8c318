#include "sim/step/step_part.h"

#include <algorithm>

#include "sim/step/step_traffic.h"

namespace stagewright {
namespace {

void add_pass(Part& part, const PassTime& pass, bool again) {
  if (again) {
    part[StepTerm::kRecompute] += pass.device();
    return;
  }
  part[StepTerm::kProducts] += pass.products;
  part[StepTerm::kAttention] += pass.attention;
  part[StepTerm::kElementwise] += pass.elementwise;
  part[StepTerm::kExperts] += pass.experts;
}

/// Collectives of a layer's forward and backward: bandwidth part and the skew that no queue of
/// kernels hides.
struct LayerTraffic {
  double forward = 0;
  double backward = 0;       ///< that kernels wait for
  double under_weights = 0;  ///< of the backward, with a weight gradient's product beside it
  double dispatch = 0;       ///< of experts, both ways, one pass
  double context = 0;        ///< of context parallelism, one pass
  double skew_forward = 0;
  double skew_backward = 0;
  double calls_forward = 0;  ///< between kernels, how many
  double calls_backward = 0;
};

/// Tensor-parallel collectives.  Without sequence parallelism a layer sums two outputs forward and
/// two input gradients backward.  With it, each sum is a scatter with a gather ahead of the next
/// product, and the backward gathers both inputs once more for their weight gradients.
void add_tensor_traffic(LayerTraffic& traffic, const Pieces& pieces, double bytes) {
  const GroupGeometry group = strided_group(*pieces.setup, *pieces.constants, pieces.run().tp, 1);
  const double launch = pieces.get(StepConstant::kCollectiveMicros) * 1e-6;
  const auto latency = [&](OpKind kind) {
    return traffic_seconds(kind, 1, group, *pieces.constants);
  };
  const auto bandwidth = [&](OpKind kind) {
    return traffic_seconds(kind, bytes, group, *pieces.constants) - latency(kind);
  };
  if (!pieces.choices.sequence_parallel) {
    const double sum = bandwidth(OpKind::kAllReduce);
    traffic.forward = 2 * sum;
    traffic.under_weights = 2 * sum;
    traffic.skew_forward = 2 * (latency(OpKind::kAllReduce) + launch);
    traffic.skew_backward = traffic.skew_forward;
    traffic.calls_forward = 2;
    traffic.calls_backward = 2;
    return;
  }
  const double gather = bandwidth(OpKind::kAllGather);
  const double scatter = bandwidth(OpKind::kReduceScatter);
  const double gather_skew = latency(OpKind::kAllGather) + launch;
  const double scatter_skew = latency(OpKind::kReduceScatter) + launch;
  traffic.forward = 2 * (gather + scatter);
  traffic.backward = 2 * gather;
  traffic.under_weights = 2 * (gather + scatter);
  traffic.skew_forward = 2 * (gather_skew + scatter_skew);
  traffic.skew_backward = traffic.skew_forward + 2 * gather_skew;
  traffic.calls_forward = 4;
  traffic.calls_backward = 6;
}

/// On top of a layer's collectives, half as many again for the decoder's second attention;
/// backward, the sum of the gradient of the encoder's output.
void add_cross_traffic(LayerTraffic& traffic, const Pieces& pieces, double bytes) {
  traffic.forward *= 1.5;
  traffic.backward *= 1.5;
  traffic.under_weights *= 1.5;
  traffic.skew_forward *= 1.5;
  traffic.skew_backward *= 1.5;
  traffic.calls_forward *= 1.5;
  traffic.calls_backward *= 1.5;
  const TrainingRun& run = pieces.run();
  const GroupGeometry group = strided_group(*pieces.setup, *pieces.constants, run.tp, 1);
  const double read =
      bytes * static_cast<double>(run.encoder->sequence) / static_cast<double>(run.sequence);
  traffic.under_weights += traffic_seconds(OpKind::kAllReduce, read, group, *pieces.constants);
}

LayerTraffic layer_traffic(const Pieces& pieces, bool experts) {
  const TrainingRun& run = pieces.run();
  LayerTraffic traffic;
  const double bytes =
      tokens_of(run) * static_cast<double>(run.shape.hidden) * pieces.rates.element;
  if (run.tp > 1) {
    add_tensor_traffic(traffic, pieces, bytes);
    if (run.encoder) {
      add_cross_traffic(traffic, pieces, bytes);
    }
  }
  if (run.cp > 1) {
    const GroupGeometry group = strided_group(*pieces.setup, *pieces.constants, run.cp, run.tp);
    const double kv = 2 * tokens_of(run) * run.cp *
                      std::max(1.0, static_cast<double>(run.shape.kv_heads) / run.tp) *
                      static_cast<double>(run.shape.head_dim) * pieces.rates.element;
    traffic.context = traffic_seconds(OpKind::kAllGather, kv, group, *pieces.constants);
  }
  if (experts && run.ep > 1) {
    const GroupGeometry group =
        strided_group(*pieces.setup, *pieces.constants, run.ep, run.expert_tp.value_or(1));
    const auto visited = static_cast<double>(run.experts->per_token);
    const double copies = pieces.setup->framework.dispatches_once_per_node
                              ? copies_of_a_token(visited, group.nodes)
                              : visited;
    traffic.dispatch =
        2 * traffic_seconds(OpKind::kAllToAll, bytes / run.tp * copies, group, *pieces.constants);
  }
  return traffic;
}

/// Device, host and collectives of one pass: the device waits where the host issues slower.
void finish_pass(Part& part,
                 const Pieces& pieces,
                 double device,
                 double kernels,
                 double traffic,
                 double& seconds) {
  const double host = kernels * pieces.timing.host_micros * 1e-6;
  const double busy = device + traffic;
  part[StepTerm::kHost] += std::max(0.0, host - busy);
  seconds += std::max(host, busy);
}

}  // namespace

Pieces pieces_of(const TrainingSetup& setup, const StepConstants& constants) {
  Pieces pieces{.setup = &setup,
                .constants = &constants,
                .timing = constants.timing(setup.framework.timing_class),
                .choices = {},
                .rates = {}};
  pieces.choices = choices_of(setup);
  pieces.rates = kernel_rates(setup, constants, pieces.timing);
  return pieces;
}

Part layer_part(const Pieces& pieces, const LayerTime& layer, bool experts) {
  const TrainingRun& run = pieces.run();
  const LayerTraffic traffic = layer_traffic(pieces, experts);
  Part part;
  add_pass(part, layer.forward, false);
  add_pass(part, layer.backward, false);
  add_pass(part, layer.again, true);
  const bool decomposed = pieces.choices.decomposed_tensor;
  const bool under_weights = pieces.setup->framework.overlap_input_gradient;
  const double hidden = decomposed ? pieces.get(StepConstant::kTensorOverlap) : 0;
  const bool spares = pieces.setup->framework.spares_recomputation && !run.experts;
  const double again = pieces.choices.recompute == Recompute::kFull
                           ? recomputed_share(run) * (spares ? 0.5 : 1)
                       : pieces.choices.recompute == Recompute::kSelective &&
                               run.selective != SelectiveKind::kAttentionCore
                           ? 0.5
                           : 0;
  const double exposed = pieces.get(StepConstant::kExpertExposed);
  // A ring of attention blocks hides its transfers under the blocks, but for the first.
  const double ring = run.cp > 1 ? traffic.context / run.cp : 0;
  const double forward = traffic.forward * (1 - hidden);
  const double hidden_under =
      std::max(hidden, under_weights ? pieces.get(StepConstant::kShardedOverlap) : 0);
  const double backward = traffic.under_weights * (1 - hidden_under) +
                          (traffic.backward + again * traffic.forward) * (1 - hidden);
  const double dispatch = traffic.dispatch * exposed;
  part[StepTerm::kTensorTraffic] += forward + backward;
  part[StepTerm::kExpertTraffic] += (2 + again) * dispatch;
  part[StepTerm::kContextTraffic] += 3 * ring;
  finish_pass(part,
              pieces,
              layer.forward.device(),
              layer.forward.kernels + traffic.calls_forward,
              forward + dispatch + ring,
              part.forward);
  finish_pass(part,
              pieces,
              layer.backward.device() + layer.again.device(),
              layer.backward.kernels + layer.again.kernels + traffic.calls_backward +
                  again * traffic.calls_forward,
              backward + (1 + again) * dispatch + 2 * ring,
              part.backward);
  const double skew_backward = traffic.skew_backward + again * traffic.skew_forward;
  part[StepTerm::kTensorTraffic] += traffic.skew_forward + skew_backward;
  part.forward += traffic.skew_forward;
  part.backward += skew_backward;
  return part;
}

Part end_part(const Pieces& pieces, const LayerTime& end, int collectives) {
  const TrainingRun& run = pieces.run();
  Part part;
  double traffic = 0;
  if (run.tp > 1) {
    const GroupGeometry group = strided_group(*pieces.setup, *pieces.constants, run.tp, 1);
    const double bytes =
        tokens_of(run) * static_cast<double>(run.shape.hidden) * pieces.rates.element;
    traffic = traffic_seconds(OpKind::kAllReduce, bytes, group, *pieces.constants) +
              collectives * pieces.get(StepConstant::kCollectiveMicros) * 1e-6;
  }
  part[StepTerm::kVocabulary] = end.forward.device() + end.backward.device() + traffic;
  finish_pass(part, pieces, end.forward.device(), end.forward.kernels, traffic / 2, part.forward);
  finish_pass(
      part, pieces, end.backward.device(), end.backward.kernels, traffic / 2, part.backward);
  return part;
}

}  // namespace stagewright
