#pragma once

#include <string_view>

#include "core/training/training_setup.h"

namespace stagewright {

/// A setup on an A100 80 GB with the embedded profile of that framework; ends the test program with
/// a message where there is none.
[[nodiscard]] TrainingSetup setup_with(std::string_view framework);

/// GPT of that size with the vocabulary of 51200 that Megatron's papers use, tied tables, learned
/// positions; sequence 2048, micro-batch 1.
[[nodiscard]] TrainingRun gpt_run(std::int64_t layers, std::int64_t hidden, std::int64_t heads);

/// Llama of that size, untied, no biases.
[[nodiscard]] TrainingRun llama_run(std::int64_t layers,
                                    std::int64_t hidden,
                                    std::int64_t heads,
                                    std::int64_t kv_heads,
                                    std::int64_t feed_forward,
                                    std::int64_t vocabulary);

}  // namespace stagewright
