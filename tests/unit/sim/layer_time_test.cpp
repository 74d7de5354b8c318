#include "sim/step/layer_time.h"

#include <gtest/gtest.h>

#include "memory_setups.h"

namespace stagewright {
namespace {

/// One multiprocessor at one FLOP a second, nothing else costs: times count FLOPs, of shapes that
/// tiles of 64 x 64 fill, with the 128 steps in which a tile fills and drains.
KernelRates counting_rates() {
  KernelRates rates;
  rates.product = 1;
  rates.wide = 1;
  rates.attention = 1e300;
  rates.batched = 1e300;
  rates.memory = 1e300;
  rates.kernel = 0;
  rates.units = 1;
  return rates;
}

double product(double rows, double inner, double cols) {
  return 2 * rows * cols * (inner + 128);
}

/// Gradients of the input and of the weight.
double backward(double rows, double inner, double cols) {
  return product(rows, cols, inner) + product(inner, rows, cols);
}

/// A layer of DeepSeek-V3 (arXiv 2412.19437, section 4.2) on 4096 tokens.
TrainingSetup deepseek() {
  TrainingSetup setup = setup_with("megatron");
  setup.run = llama_run(61, 7168, 128, 128, 18432, 129280);
  setup.run.shape.head_dim = 128;
  setup.run.latent_attention = true;
  return setup;
}

// Both compressions in one product (1536 + 512 + 64 columns); queries of 128 + 64 per head; keys
// and values of 128 each per head; output.
TEST(LayerTime, LatentAttentionHasTheProductsOfItsPaper) {
  const TrainingSetup setup = deepseek();
  const LayerTime layer = dense_layer(setup, choices_of(setup), counting_rates());
  const double t = 4096;
  const double forward = product(t, 7168, 2112) + product(t, 1536, 128 * 192) +
                         product(t, 512, 2 * 128 * 128) + product(t, 128 * 128, 7168) +
                         product(t, 7168, 2 * 18432) + product(t, 18432, 7168);
  EXPECT_NEAR(layer.forward.products / forward, 1, 1e-12);
  const double both = backward(t, 7168, 2112) + backward(t, 1536, 128 * 192) +
                      backward(t, 512, 2 * 128 * 128) + backward(t, 128 * 128, 7168) +
                      backward(t, 7168, 2 * 18432) + backward(t, 18432, 7168);
  EXPECT_NEAR(layer.backward.products / both, 1, 1e-12);
  EXPECT_EQ(layer.weights,
            7168.0 * 2112 + 1536 * 128 * 192 + 512 * 2 * 128 * 128 + 128 * 128 * 7168 +
                3 * 7168 * 18432.0);
}

// 256 experts of 2048 over 32 ranks, 8 a token, and one that every token visits: 8 experts a rank
// with 4096 x 8 / 8 rows each and half a tile of padding; the router scores all 256 at an eighth of
// the rate.
TEST(LayerTime, ExpertsAreGroupedProductsAndTheSharedOneIsAnMlp) {
  TrainingSetup setup = deepseek();
  setup.run.latent_attention = false;
  setup.run.shape.kv_heads = 128;
  setup.run.experts = ExpertShape{.experts = 256,
                                  .per_token = 8,
                                  .feed_forward = 2048,
                                  .shared_feed_forward = 2048,
                                  .dense_layers = 3};
  setup.run.ep = 32;
  setup.run.dp = 32;
  const LayerTime layer = expert_layer(setup, choices_of(setup), counting_rates(), 1);
  const double t = 4096;
  const double attention = product(t, 7168, 3 * 128 * 128) + product(t, 128 * 128, 7168);
  const double shared = product(t, 7168, 2 * 2048) + product(t, 2048, 7168);
  EXPECT_NEAR(layer.forward.products / (attention + shared), 1, 1e-12);
  const double rows = 4096 + 64;
  const double experts = 8 * (product(rows, 7168, 2 * 2048) + product(rows, 2048, 7168));
  const double router = 8 * product(t, 7168, 256);
  EXPECT_NEAR(layer.forward.experts / (experts + router), 1, 1e-12);
  EXPECT_EQ(layer.weights, 7168.0 * 4 * 128 * 128 + 3 * 7168.0 * 2048 + 8 * 3 * 7168.0 * 2048);
}

// Tensor parallelism divides the shared expert's inner width and the heads, not the tokens.
TEST(LayerTime, TensorParallelismDividesTheSharedExpert) {
  TrainingSetup setup = deepseek();
  setup.run.latent_attention = false;
  setup.run.tp = 4;
  setup.run.expert_tp = 1;
  setup.run.ep = 32;
  setup.run.dp = 32;
  setup.run.experts = ExpertShape{.experts = 256,
                                  .per_token = 8,
                                  .feed_forward = 2048,
                                  .shared_feed_forward = 2048,
                                  .dense_layers = 3};
  const LayerTime layer = expert_layer(setup, choices_of(setup), counting_rates(), 1);
  const double t = 4096;
  const double attention = product(t, 7168, 3 * 32 * 128) + product(t, 32 * 128, 7168);
  const double shared = product(t, 7168, 2 * 512) + product(t, 512, 7168);
  EXPECT_NEAR(layer.forward.products / (attention + shared), 1, 1e-12);
}

// 512 tokens that attend to 2048 of the encoder: query and output of theirs, keys and values of the
// encoder's.  A token sees half of its own sequence (two products of 2 x 128 FLOPs a pair) and all
// of the encoder's.
TEST(LayerTime, ADecodersLayerAttendsToTheEncoder) {
  TrainingSetup setup = setup_with("megatron");
  setup.run = gpt_run(24, 4096, 32);
  setup.run.flash_attention = true;
  setup.run.sequence = 512;
  KernelRates rates = counting_rates();
  rates.attention = 1;
  const LayerTime alone = dense_layer(setup, choices_of(setup), rates);
  setup.run.encoder = EncoderShape{.layers = 24, .sequence = 2048};
  const LayerTime layer = dense_layer(setup, choices_of(setup), rates);
  const double more = 2 * product(512, 4096, 4096) + product(2048, 4096, 2 * 4096);
  EXPECT_NEAR((layer.forward.products - alone.forward.products) / more, 1, 1e-12);
  const double pairs = 32.0 * 512 * 512;
  EXPECT_NEAR(alone.forward.attention / (pairs * 2 * 128), 1, 1e-12);
  EXPECT_NEAR(
      (layer.forward.attention - alone.forward.attention) / (4 * pairs * 4 * 128), 1, 1e-12);
  EXPECT_EQ(layer.weights - alone.weights, 4.0 * 4096 * 4096);
  setup.run = encoder_of(setup.run);
  const LayerTime encoder = dense_layer(setup, choices_of(setup), rates);
  EXPECT_NEAR(encoder.forward.attention / (32.0 * 2048 * 2048 * 4 * 128), 1, 1e-12);
}

}  // namespace
}  // namespace stagewright
