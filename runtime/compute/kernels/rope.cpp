#include "runtime/compute/kernels/rope.h"

#include <cmath>

#include "core/base/check.h"
#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {
namespace {

void rotate(const Rope& arguments, Index tokens, double direction) {
  const Index head_dim = arguments.head_dim;
  const std::vector<double> frequencies = rope_frequencies(head_dim, arguments.theta, direction);
  launch_rows(tokens,
              RopeRotation<float>{.x = arguments.qkv,
                                  .frequencies = frequencies.data(),
                                  .stride = (arguments.heads + 2 * arguments.kv_heads) * head_dim,
                                  .heads = arguments.heads + arguments.kv_heads,
                                  .head_dim = head_dim,
                                  .places = arguments.places});
}

}  // namespace

std::vector<double> rope_frequencies(Index head_dim, double theta, double direction) {
  SW_CHECK(head_dim % 2 == 0 && head_dim <= Lane::kScratch, "an even head dimension up to 1024");
  std::vector<double> frequencies;
  for (Index i = 0; i < head_dim / 2; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(head_dim);
    frequencies.push_back(direction * std::pow(theta, exponent));
  }
  return frequencies;
}

void rope_forward(const Rope& arguments, Index tokens) {
  rotate(arguments, tokens, 1.0);
}

void rope_backward(const Rope& arguments, Index tokens) {
  rotate(arguments, tokens, -1.0);
}

}  // namespace stagewright::kernels
