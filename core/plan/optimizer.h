#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stagewright {

enum class OptimizerKind : std::uint8_t {
  kSgd,
  kAdam,  ///< Kingma and Ba 2015, algorithm 1, with weight decay as part of the gradient
  kAdamW
};

[[nodiscard]] std::string_view name_of(OptimizerKind kind);  ///< "sgd", "adam", "adamw"

/// The update rule and its constants.
struct OptimizerSpec {
  OptimizerKind kind = OptimizerKind::kAdamW;
  double learning_rate = 3e-4;
  double momentum = 0;  ///< SGD
  double beta1 = 0.9;   ///< Adam and AdamW (Loshchilov and Hutter 2019, algorithm 2)
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.1;
  std::optional<double> clip_norm = 1.0;  ///< largest global gradient norm
  friend bool operator==(const OptimizerSpec&, const OptimizerSpec&) = default;
};

}  // namespace stagewright
