#pragma once

namespace stagewright::kernels {

/// Instruction sets that the CPU kernels are compiled for.  One binary holds
/// all of them and each launch takes the best that the machine has.
enum class InstructionSet {
  kBaseline,  ///< x86-64 (SSE2), or whatever the compiler targets elsewhere
  kAvx2,      ///< x86-64-v3
  kAvx512,    ///< x86-64-v4
};

/// The best set of this machine.  Results of two sets differ by rounding
/// (fused multiply-add, order of sums).
InstructionSet best_instruction_set();

}  // namespace stagewright::kernels
