#include "memory_setups.h"

#include "core/base/check.h"
#include "core/base/data_files.h"
#include "core/cluster/cluster.h"

namespace stagewright {

TrainingSetup setup_with(std::string_view framework) {
  const DataFiles files = DataFiles::embedded();
  const auto profile = find_framework(files, framework);
  const auto device = find_device(files, "a100-80gb-sxm");
  SW_CHECK(profile.has_value() && device.has_value(), "the embedded profiles");
  TrainingSetup setup;
  setup.framework = *profile;
  setup.device = *device;
  setup.intra_node = device->intra_node;
  setup.inter_node = device->inter_node;
  return setup;
}

TrainingRun gpt_run(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  TrainingRun run;
  run.shape.layers = layers;
  run.shape.hidden = hidden;
  run.shape.heads = heads;
  run.shape.kv_heads = heads;
  run.shape.head_dim = hidden / heads;
  run.shape.feed_forward = 4 * hidden;
  run.shape.vocabulary = 51200;
  run.sequence = 2048;
  run.flash_attention = false;
  return run;
}

TrainingRun llama_run(std::int64_t layers,
                      std::int64_t hidden,
                      std::int64_t heads,
                      std::int64_t kv_heads,
                      std::int64_t feed_forward,
                      std::int64_t vocabulary) {
  TrainingRun run = gpt_run(layers, hidden, heads);
  run.shape.kv_heads = kv_heads;
  run.shape.feed_forward = feed_forward;
  run.shape.vocabulary = vocabulary;
  run.shape.norm = OpVariant::kRmsNorm;
  run.shape.activation = OpVariant::kSwiGlu;
  run.shape.learned_positions = false;
  run.shape.biases = false;
  run.shape.qkv_bias = false;
  run.shape.tied_embeddings = false;
  run.sequence = 4096;
  run.flash_attention = true;
  return run;
}

}  // namespace stagewright
