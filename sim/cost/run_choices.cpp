#include "sim/cost/run_choices.h"

#include "sim/cost/kernel_time.h"

namespace stagewright {

bool softmax_takes(std::int64_t keys, std::int64_t matrices) {
  return keys <= 2048 && matrices % 4 == 0;
}

RunChoices choices_of(const TrainingSetup& setup) {
  const TrainingRun& run = setup.run;
  const FrameworkProfile& framework = setup.framework;
  RunChoices choices;
  choices.flash = run.flash_attention.value_or(framework.flash_attention);
  choices.attention = attention_kernel(setup);
  choices.fused_softmax =
      framework.fused_softmax &&
      softmax_takes(run.sequence, std::int64_t{run.micro_batch} * run.shape.heads / run.tp);
  choices.compiled = run.compiled.value_or(framework.timing_class == "torchtitan");
  choices.fused_norm = framework.fused_norm || choices.compiled;
  choices.fused_sum = framework.fused_residual || choices.compiled;
  choices.fused_activation = framework.fused_activation || choices.compiled;
  choices.fused_casts = framework.fused_casts;
  // Models of LLaMA's kind train without.
  choices.dropout = framework.dropout && run.shape.activation != OpVariant::kSwiGlu;
  choices.biases = run.shape.biases;
  choices.gradient_32 = run.gradient_32.value_or(framework.gradient_32 && !run.half_precision);
  choices.fused_accumulation = framework.fused_accumulation;
  choices.fresh_gradients = run.zero_stage == 3 || (run.micro_batches == 1 && !choices.gradient_32);
  choices.sequence_parallel =
      run.tp > 1 && run.sequence_parallel.value_or(framework.sequence_parallel);
  choices.decomposed_tensor =
      choices.sequence_parallel && (run.async_tensor_parallel || framework.overlap_tensor);
  choices.overlap_gradients = run.overlap_gradients.value_or(framework.overlap_gradients);
  choices.overlap_gather = run.overlap_gather.value_or(framework.overlap_gather);
  choices.recompute = run.recompute.value_or(framework.recompute);
  return choices;
}

}  // namespace stagewright
