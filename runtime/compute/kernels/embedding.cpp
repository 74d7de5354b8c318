#include "runtime/compute/kernels/embedding.h"

#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {

void embedding_forward(const EmbeddingForward<float>& kernel, Index tokens) {
  launch_rows(tokens, kernel);
}

void embedding_forward(const EmbeddingForward<std::uint16_t>& kernel, Index tokens) {
  launch_rows(tokens, kernel);
}

void embedding_gradient(const EmbeddingTableGradient& arguments, Index tokens) {
  launch_rows(1,
              EmbeddingGradient<float>{.tokens = arguments.tokens,
                                       .dy = arguments.dy,
                                       .dtable = arguments.dtable,
                                       .token_count = tokens,
                                       .width = arguments.width,
                                       .vocab_begin = arguments.vocab_begin,
                                       .vocab_rows = arguments.vocab_rows,
                                       .columns_per_team = arguments.width});
}

void position_forward(const PositionForward<float>& kernel, Index tokens) {
  launch_rows(tokens, kernel);
}

void position_gradient(const PositionGradient<float>& kernel) {
  launch_rows(kernel.places.tokens, kernel);
}

}  // namespace stagewright::kernels
