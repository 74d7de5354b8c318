#include "planner/search/closed_form_points.h"

#include "planner/schedules/registry.h"

namespace stagewright {
namespace {

MatrixFormat format_of(DType compute) {
  switch (compute) {
    case DType::kFloat32:
      return MatrixFormat::kFloat32;
    case DType::kTf32:
      return MatrixFormat::kTf32;
    case DType::kFloat16:
      return MatrixFormat::kFloat16;
    default:
      return MatrixFormat::kBFloat16;
  }
}

}  // namespace

TrainingSetup job_setup(const ModelGraph& model,
                        const Cluster& cluster,
                        const SearchRequest& request) {
  TrainingSetup setup;
  setup.device = cluster.types.front();
  setup.intra_node = cluster.intra_link(NodeId(0));
  setup.inter_node = cluster.inter_link(NodeId(0));
  setup.domain = static_cast<std::int32_t>(cluster.nodes.front().devices.size());
  setup.framework = request.step_prices->framework;
  setup.run.shape = model.shape;
  if (model.shape.experts > 0) {
    setup.run.experts = ExpertShape{.experts = model.shape.experts,
                                    .per_token = model.shape.experts_per_token,
                                    .feed_forward = model.shape.feed_forward};
  }
  setup.run.sequence = request.sequence;
  setup.run.format = format_of(request.precision.compute);
  setup.run.half_precision = request.precision.compute == DType::kFloat16;
  setup.run.gradient_32 = request.precision.gradient == DType::kFloat32;
  setup.run.master_weights = request.precision.master_weights;
  return setup;
}

void set_point(TrainingRun& run, const PlanPoint& point) {
  run.dp = point.dp;
  run.tp = point.tp;
  run.pp = point.pp;
  run.cp = point.cp;
  run.ep = point.ep;
  run.virtual_stages = point.virtual_stages;
  run.micro_batch = point.micro_batch_size;
  run.micro_batches = point.micro_batches;
  run.sequence_parallel = point.sequence_parallel;
  run.zero_stage = point.zero;
  run.shard_group = point.shard_group;
  run.recompute = point.recompute;
  run.schedule = schedule_generators()[static_cast<std::size_t>(point.schedule)].name;
}

double busy_seconds(const StepTime& step) {
  double seconds = 0;
  for (const StepTerm term : {StepTerm::kProducts,
                              StepTerm::kAttention,
                              StepTerm::kElementwise,
                              StepTerm::kExperts,
                              StepTerm::kRecompute,
                              StepTerm::kHost,
                              StepTerm::kTensorTraffic}) {
    seconds += step[term];
  }
  return seconds;
}

}  // namespace stagewright
