#include "tests/integration/training/layouts.h"

#include "core/base/check.h"
#include "core/base/data_files.h"
#include "core/cluster/cluster.h"
#include "core/model/convnet.h"
#include "core/model/transformer.h"
#include "planner/lower/lower.h"
#include "runtime/trainer/sampled_batches.h"
#include "runtime/trainer/synthetic_images.h"

namespace stagewright {

namespace {
constexpr std::int32_t kVocabulary = 61;
}  // namespace

void PrintTo(const Layout& layout, std::ostream* out) {
  *out << layout.name;
}

const std::vector<Layout>& equal_layouts() {
  static const std::vector<Layout> kLayouts = {
      {.name = "one_rank"},
      {.name = "dp2", .dp = 2},
      {.name = "tp2", .tp = 2},
      {.name = "pp2_gpipe", .pp = 2, .schedule = "gpipe"},
      {.name = "pp2_1f1b", .pp = 2},
      {.name = "dp2_tp2_pp2", .dp = 2, .tp = 2, .pp = 2},
      {.name = "pp4_of_7_blocks", .pp = 4},
      {.name = "pp2_interleaved", .pp = 2, .virtual_stages = 2, .schedule = "interleaved-1f1b"},
      {.name = "pp2_zb_h1", .pp = 2, .schedule = "zb-h1"},
      {.name = "pp2_zb_v", .pp = 2, .virtual_stages = 2, .schedule = "zb-v"},
      {.name = "pp4_dualpipe_v", .pp = 4, .virtual_stages = 2, .schedule = "dualpipe-v"},
      {.name = "pp2_dualpipe", .pp = 2, .schedule = "dualpipe"},
      {.name = "pp4_dualpipe", .pp = 4, .schedule = "dualpipe"},
      {.name = "pp4_chimera", .pp = 4, .schedule = "chimera"},
      {.name = "dp2_pp2_chimera", .dp = 2, .pp = 2, .schedule = "chimera"},
      {.name = "tp2_pp2_dualpipe", .tp = 2, .pp = 2, .schedule = "dualpipe"},
      {.name = "pp4_recompute_ahead",
       .pp = 4,
       .recompute = Recompute::kFull,
       .recompute_placement = RecomputePlacement::kAhead},
      {.name = "tp2_pp2_zb_h1_recompute_ahead",
       .tp = 2,
       .pp = 2,
       .schedule = "zb-h1",
       .recompute = Recompute::kFull,
       .recompute_placement = RecomputePlacement::kAhead},
      {.name = "pp2_selective_ahead",
       .pp = 2,
       .recompute = Recompute::kSelective,
       .recompute_placement = RecomputePlacement::kAhead},
      {.name = "tp2_selective", .tp = 2, .recompute = Recompute::kSelective},
      {.name = "dp2_zero1", .dp = 2, .zero_stage = 1},
      {.name = "dp2_zero2", .dp = 2, .zero_stage = 2},
      {.name = "dp2_zero3", .dp = 2, .zero_stage = 3},
      {.name = "dp2_pp2_zero2_zb_h1", .dp = 2, .pp = 2, .schedule = "zb-h1", .zero_stage = 2},
      {.name = "dp2_tp2_pp2_zero3",
       .dp = 2,
       .tp = 2,
       .pp = 2,
       .recompute = Recompute::kFull,
       .recompute_placement = RecomputePlacement::kAhead,
       .zero_stage = 3,
       .gather_prefetch = 2},
      {.name = "dp2_pp2_interleaved_zero3",
       .dp = 2,
       .pp = 2,
       .virtual_stages = 2,
       .schedule = "interleaved-1f1b",
       .zero_stage = 3,
       .gather_residency = 3},
      {.name = "dp4_zero1", .dp = 4, .zero_stage = 1},
      {.name = "dp2_tp2_pp2_zero1", .dp = 2, .tp = 2, .pp = 2, .zero_stage = 1},
      {.name = "dp2_pp2_chimera_zero1", .dp = 2, .pp = 2, .schedule = "chimera", .zero_stage = 1},
      {.name = "sp2", .tp = 2, .sequence_parallel = true},
      {.name = "sp2_of_two_sequences", .tp = 2, .micro_batch_size = 2, .sequence_parallel = true},
      {.name = "sp2_pp2_1f1b", .tp = 2, .pp = 2, .sequence_parallel = true},
      {.name = "sp2_selective",
       .tp = 2,
       .recompute = Recompute::kSelective,
       .sequence_parallel = true},
      {.name = "sp2_full", .tp = 2, .recompute = Recompute::kFull, .sequence_parallel = true},
      {.name = "sp2_pp2_zb_h1_recompute_ahead",
       .tp = 2,
       .pp = 2,
       .schedule = "zb-h1",
       .recompute = Recompute::kFull,
       .recompute_placement = RecomputePlacement::kAhead,
       .sequence_parallel = true},
      {.name = "sp2_pp2_interleaved",
       .tp = 2,
       .pp = 2,
       .virtual_stages = 2,
       .schedule = "interleaved-1f1b",
       .sequence_parallel = true},
      {.name = "sp2_pp2_dualpipe",
       .tp = 2,
       .pp = 2,
       .schedule = "dualpipe",
       .sequence_parallel = true},
      {.name = "sp2_pp2_chimera",
       .tp = 2,
       .pp = 2,
       .schedule = "chimera",
       .sequence_parallel = true},
      {.name = "dp2_sp2_zero1", .dp = 2, .tp = 2, .zero_stage = 1, .sequence_parallel = true},
      {.name = "dp2_sp2_zero2", .dp = 2, .tp = 2, .zero_stage = 2, .sequence_parallel = true},
      {.name = "dp2_sp2_pp2_zero3",
       .dp = 2,
       .tp = 2,
       .pp = 2,
       .schedule = "zb-h1",
       .zero_stage = 3,
       .sequence_parallel = true},
      {.name = "cp2", .cp = 2},
      {.name = "cp4", .cp = 4},
      {.name = "cp2_of_two_sequences", .cp = 2, .micro_batch_size = 2},
      {.name = "dp2_cp2", .dp = 2, .cp = 2},
      {.name = "tp2_cp2", .tp = 2, .cp = 2},
      {.name = "sp2_cp2_of_two_sequences",
       .tp = 2,
       .cp = 2,
       .micro_batch_size = 2,
       .sequence_parallel = true},
      {.name = "cp2_selective", .cp = 2, .recompute = Recompute::kSelective},
      {.name = "cp4_full", .cp = 4, .recompute = Recompute::kFull},
      {.name = "cp2_zero1", .cp = 2, .zero_stage = 1},
      {.name = "dp2_cp2_zero2", .dp = 2, .cp = 2, .zero_stage = 2},
      {.name = "cp4_zero3", .cp = 4, .zero_stage = 3},
      {.name = "pp2_cp2_1f1b", .pp = 2, .cp = 2},
      {.name = "pp2_cp2_gpipe", .pp = 2, .cp = 2, .schedule = "gpipe"},
      {.name = "pp2_cp2_interleaved",
       .pp = 2,
       .cp = 2,
       .virtual_stages = 2,
       .schedule = "interleaved-1f1b"},
      {.name = "pp2_cp2_zb_h1_recompute_ahead",
       .pp = 2,
       .cp = 2,
       .schedule = "zb-h1",
       .recompute = Recompute::kFull,
       .recompute_placement = RecomputePlacement::kAhead},
      {.name = "pp2_cp2_dualpipe", .pp = 2, .cp = 2, .schedule = "dualpipe"},
      {.name = "pp2_cp2_chimera_zero1", .pp = 2, .cp = 2, .schedule = "chimera", .zero_stage = 1},
      {.name = "tp2_pp2_cp2_zb_h1", .tp = 2, .pp = 2, .cp = 2, .schedule = "zb-h1"},
      {.name = "dp2_sp2_cp2_zero3",
       .dp = 2,
       .tp = 2,
       .cp = 2,
       .zero_stage = 3,
       .sequence_parallel = true},
  };
  return kLayouts;
}

const std::vector<Layout>& expert_layouts() {
  static const std::vector<Layout> kLayouts = [] {
    std::vector<Layout> layouts = {
        {.name = "experts_one_rank"},
        {.name = "experts_dp2", .dp = 2},
        {.name = "ep2", .dp = 2, .ep = 2},
        {.name = "ep4", .dp = 4, .ep = 4},
        {.name = "dp4_ep2", .dp = 4, .ep = 2},
        {.name = "ep2_of_two_sequences", .dp = 2, .ep = 2, .micro_batch_size = 2},
        {.name = "experts_tp2", .tp = 2},
        {.name = "tp2_ep2", .dp = 2, .tp = 2, .ep = 2},
        {.name = "experts_pp2", .pp = 2},
        {.name = "pp2_ep2_gpipe", .dp = 2, .pp = 2, .ep = 2, .schedule = "gpipe"},
        {.name = "pp2_ep2_1f1b", .dp = 2, .pp = 2, .ep = 2},
        {.name = "pp2_ep2_interleaved",
         .dp = 2,
         .pp = 2,
         .ep = 2,
         .virtual_stages = 2,
         .schedule = "interleaved-1f1b"},
        {.name = "pp2_ep2_zb_h1", .dp = 2, .pp = 2, .ep = 2, .schedule = "zb-h1"},
        {.name = "pp2_ep2_dualpipe", .dp = 2, .pp = 2, .ep = 2, .schedule = "dualpipe"},
        {.name = "ep2_full", .dp = 2, .ep = 2, .recompute = Recompute::kFull},
        {.name = "ep2_selective", .dp = 2, .ep = 2, .recompute = Recompute::kSelective},
        {.name = "pp2_ep2_recompute_ahead",
         .dp = 2,
         .pp = 2,
         .ep = 2,
         .recompute = Recompute::kFull,
         .recompute_placement = RecomputePlacement::kAhead},
        {.name = "experts_dp2_zero3", .dp = 2, .zero_stage = 3},
        {.name = "ep2_zero1", .dp = 2, .ep = 2, .zero_stage = 1},
        {.name = "dp4_ep2_zero1", .dp = 4, .ep = 2, .zero_stage = 1},
        {.name = "dp4_ep2_zero2", .dp = 4, .ep = 2, .zero_stage = 2},
        {.name = "dp4_ep2_zero3", .dp = 4, .ep = 2, .zero_stage = 3},
    };
    for (Layout& layout : layouts) {
      layout.experts = true;
    }
    return layouts;
  }();
  return kLayouts;
}

const std::vector<Layout>& context_expert_layouts() {
  static const std::vector<Layout> kLayouts = [] {
    std::vector<Layout> layouts = {
        {.name = "unbalanced_experts_one_rank"},
        {.name = "experts_cp2", .cp = 2},
        {.name = "cp2_ep2", .cp = 2, .ep = 2},
        {.name = "dp2_cp2_ep4", .dp = 2, .cp = 2, .ep = 4},
        {.name = "pp2_cp2_ep2_zb_h1", .pp = 2, .cp = 2, .ep = 2, .schedule = "zb-h1"},
        {.name = "cp2_ep2_full", .cp = 2, .ep = 2, .recompute = Recompute::kFull},
        {.name = "dp2_cp2_ep2_zero1", .dp = 2, .cp = 2, .ep = 2, .zero_stage = 1},
    };
    for (Layout& layout : layouts) {
      layout.experts = true;
      layout.balanced = false;
    }
    return layouts;
  }();
  return kLayouts;
}

std::vector<Style> styles_of(const Layout& layout) {
  if (layout.experts && !layout.balanced) {
    return {Style::kUnbalancedExperts};
  }
  if (layout.experts) {
    return {Style::kExperts};
  }
  std::vector<Style> styles = {Style::kGpt, Style::kLlama};
  if (layout.tp == 1 && layout.cp == 1) {
    styles.push_back(Style::kConvNet);
  }
  return styles;
}

std::vector<Layout> all_layouts() {
  std::vector<Layout> layouts = equal_layouts();
  layouts.insert(layouts.end(), expert_layouts().begin(), expert_layouts().end());
  layouts.insert(layouts.end(), context_expert_layouts().begin(), context_expert_layouts().end());
  layouts.push_back({.name = "dp4_ep2_bf16_zero1",
                     .dp = 4,
                     .ep = 2,
                     .zero_stage = 1,
                     .compute = DType::kBFloat16,
                     .experts = true});
  layouts.push_back(
      {.name = "tp2_pp2_zb_v", .tp = 2, .pp = 2, .virtual_stages = 2, .schedule = "zb-v"});
  layouts.push_back({.name = "dp2_tp2_pp2_bf16_zero1",
                     .dp = 2,
                     .tp = 2,
                     .pp = 2,
                     .zero_stage = 1,
                     .compute = DType::kBFloat16});
  layouts.push_back({.name = "dp2_sp2_fp16_zero3",
                     .dp = 2,
                     .tp = 2,
                     .zero_stage = 3,
                     .sequence_parallel = true,
                     .compute = DType::kFloat16});
  layouts.push_back({.name = "sp2_pp2_zb_v",
                     .tp = 2,
                     .pp = 2,
                     .virtual_stages = 2,
                     .schedule = "zb-v",
                     .sequence_parallel = true});
  layouts.push_back({.name = "sp2_pp2_transfer_bf16",
                     .tp = 2,
                     .pp = 2,
                     .transfer = DType::kBFloat16,
                     .sequence_parallel = true});
  layouts.push_back({.name = "tp2_cp2_bf16_zero1",
                     .tp = 2,
                     .cp = 2,
                     .zero_stage = 1,
                     .compute = DType::kBFloat16});
  layouts.push_back(
      {.name = "pp2_cp2_transfer_bf16", .pp = 2, .cp = 2, .transfer = DType::kBFloat16});
  layouts.push_back(
      {.name = "pp2_cp2_zb_v", .pp = 2, .cp = 2, .virtual_stages = 2, .schedule = "zb-v"});
  layouts.push_back({.name = "pp2_transfer_bf16", .pp = 2, .transfer = DType::kBFloat16});
  layouts.push_back({.name = "tp2_pp2_transfer_fp16",
                     .tp = 2,
                     .pp = 2,
                     .schedule = "zb-h1",
                     .transfer = DType::kFloat16});
  return layouts;
}

namespace {

ModelGraph small_convnet() {
  const ConvNetPool maximum{.kernel = 3, .stride = 2, .padding = 1};
  const ConvNetPool average{.kind = OpVariant::kAverage, .kernel = 2, .stride = 2};
  const ConvNetShape shape{
      .height = 12,
      .width = 12,
      .classes = 10,
      .layers = {{.channels = 6, .padding = 1},
                 {.channels = 8, .kernel = 5, .padding = 2, .pool = maximum},
                 {.channels = 8, .padding = 1, .convolutions = 2, .residual = true},
                 {.channels = 12, .stride = 2, .padding = 1, .convolutions = 2, .residual = true},
                 {.channels = 12, .kernel = 1},
                 {.channels = 8, .kernel = 2, .pool = average},
                 {.units = 24, .dropout = 0.2},
                 {.units = 20}}};
  auto model = make_convnet("small", shape);
  SW_CHECK(model, model.error().to_string());
  return std::move(*model);
}

}  // namespace

ModelGraph small_model(Style style, std::int32_t blocks) {
  if (style == Style::kConvNet) {
    return small_convnet();
  }
  TransformerShape shape;
  shape.layers = blocks;
  shape.hidden = 32;
  shape.heads = 4;
  shape.kv_heads = 4;
  shape.head_dim = 8;
  shape.feed_forward = 64;
  shape.vocabulary = kVocabulary;
  shape.max_sequence = kSequence;
  const bool experts = style == Style::kExperts || style == Style::kUnbalancedExperts;
  if (style == Style::kLlama || experts) {
    shape.kv_heads = 2;
    shape.norm = OpVariant::kRmsNorm;
    shape.activation = OpVariant::kSwiGlu;
    shape.learned_positions = false;
    shape.biases = false;
    shape.qkv_bias = false;
    shape.tied_embeddings = false;
    if (experts) {
      shape.experts = 4;
      shape.feed_forward = 24;
      shape.balance = style == Style::kExperts ? 0.01 : 0;
    }
  } else if (style == Style::kEncoder) {
    shape.activation = OpVariant::kRelu;
    shape.tied_embeddings = false;
    shape.post_norm = true;
    shape.causal = false;
    shape.loss = LayerOpKind::kSquaredError;
    shape.dropout = 0.2;
  }
  auto model =
      make_transformer("small", style == Style::kLlama || experts ? "llama" : "gpt2", shape);
  SW_CHECK(model, model.error().to_string());
  return std::move(*model);
}

OptimizerSpec sgd() {
  OptimizerSpec optimizer;
  optimizer.kind = OptimizerKind::kSgd;
  optimizer.learning_rate = 0.5;
  optimizer.weight_decay = 0.01;
  return optimizer;
}

OptimizerSpec adamw() {
  OptimizerSpec optimizer;
  optimizer.learning_rate = 3e-3;
  return optimizer;
}

OptimizerSpec without_clipping(OptimizerSpec optimizer) {
  optimizer.clip_norm.reset();
  return optimizer;
}

Plan plan_of(const ModelGraph& model, const Layout& layout, const OptimizerSpec& optimizer) {
  Plan plan;
  plan.model = model.name;
  plan.stages = even_stages(static_cast<std::int32_t>(model.layers.size()),
                            layout.pp * layout.virtual_stages,
                            layout.dp,
                            layout.tp);
  plan.virtual_stages = layout.virtual_stages;
  for (StagePlan& stage : plan.stages) {
    stage.recompute = layout.recompute;
  }
  plan.cp = layout.cp;
  plan.ep = layout.ep;
  plan.sequence = sees_images(model) ? 1 : kSequence;
  plan.micro_batch_size = layout.micro_batch_size;
  plan.micro_batches = kGlobalBatch / layout.dp / layout.micro_batch_size;
  plan.schedule = layout.schedule;
  plan.recompute_placement = layout.recompute_placement;
  plan.zero_stage = layout.zero_stage;
  plan.gather_residency = layout.gather_residency;
  plan.gather_prefetch = layout.gather_prefetch;
  plan.sequence_parallel = layout.sequence_parallel;
  plan.precision.compute = layout.compute;
  plan.precision.transfer = layout.transfer;
  plan.optimizer = optimizer;
  return plan;
}

Cluster cluster_of(const Layout& layout) {
  const std::int32_t ranks = layout.dp * layout.tp * layout.pp * layout.cp;
  auto cluster = find_cluster(DataFiles::embedded(), std::to_string(ranks) + "xcpu");
  SW_CHECK(cluster, cluster.error().to_string());
  return std::move(*cluster);
}

Schedule schedule_of(const ModelGraph& model,
                     const Layout& layout,
                     const OptimizerSpec& optimizer) {
  auto schedule = lower(model, cluster_of(layout), plan_of(model, layout, optimizer));
  SW_CHECK(schedule, schedule.error().to_string());
  return std::move(*schedule);
}

TokenData learnable_tokens() {
  TokenData data{"learnable tokens", {}, 1};
  std::uint32_t token = 1;
  for (std::uint32_t i = 0; i < 4096; ++i) {
    data.bytes.push_back(static_cast<char>(token));
    token = (3 * token + (i % 11 == 0 ? i / 11 : 7)) % kVocabulary;
  }
  return data;
}

Result<RunReport> train(const Schedule& schedule, std::int32_t steps) {
  RunOptions options;
  options.steps = steps;
  options.seed = kTrainingSeed;
  options.check_replicas_every = 1;
  if (image_elements_of(schedule)) {
    return run(schedule, options);
  }
  const TokenData data = learnable_tokens();
  const SampledBatches batches(data, schedule, kTrainingSeed);
  const std::vector<const Schedule*> schedule_of_rank(schedule.ranks.size(), &schedule);
  return run(schedule_of_rank, batches, options);
}

}  // namespace stagewright
