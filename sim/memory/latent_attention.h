#pragma once

namespace stagewright {

/// Ranks and head sizes of multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section
/// 3.1.2; V3 keeps them).
struct LatentAttention {
  static constexpr double kQueryRank = 1536;
  static constexpr double kKeyValueRank = 512;
  static constexpr double kRope = 64;  ///< dimensions of a head's rotary part
};

}  // namespace stagewright
