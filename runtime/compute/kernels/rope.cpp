#include "runtime/compute/kernels/rope.h"

#include <array>
#include <cmath>

#include "core/base/check.h"
#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {
namespace {

// `direction` is 1 for the forward turn and -1 for its inverse, the transpose.
void rotate(const Rope& arguments, Index tokens, double direction) {
  const Index head_dim = arguments.head_dim;
  SW_CHECK(head_dim % 2 == 0 && head_dim <= Lane::kScratch, "an even head dimension up to 1024");
  std::array<double, Lane::kScratch / 2> frequencies{};
  for (Index i = 0; i < head_dim / 2; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(head_dim);
    frequencies.at(static_cast<std::size_t>(i)) = direction * std::pow(arguments.theta, exponent);
  }
  launch_rows(tokens,
              RopeRotation<float>{.x = arguments.qkv,
                                  .frequencies = frequencies.data(),
                                  .stride = (arguments.heads + 2 * arguments.kv_heads) * head_dim,
                                  .heads = arguments.heads + arguments.kv_heads,
                                  .head_dim = head_dim,
                                  .sequence = arguments.sequence,
                                  .first_position = arguments.first_position});
}

}  // namespace

void rope_forward(const Rope& arguments, Index tokens) {
  rotate(arguments, tokens, 1.0);
}

void rope_backward(const Rope& arguments, Index tokens) {
  rotate(arguments, tokens, -1.0);
}

}  // namespace stagewright::kernels
