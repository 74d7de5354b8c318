#include "formats/measured_words.h"

namespace stagewright {
namespace {

bool says(std::string_view words, std::string_view word) {
  return words.find(word) != std::string_view::npos;
}

}  // namespace

bool read_precision(std::string_view words, TrainingRun& run) {
  if (says(words, "fp4")) {
    run.format = MatrixFormat::kFloat4;
  } else if (says(words, "fp8") || says(words, "float8")) {
    run.format = says(words, "mx") || says(words, "block") ? MatrixFormat::kFloat8Blocks
                                                           : MatrixFormat::kFloat8;
  } else if (says(words, "tf32")) {
    run.format = MatrixFormat::kTf32;
  } else if (words.starts_with("fp32")) {
    run.format = MatrixFormat::kFloat32;
  } else if (says(words, "bf16")) {
    run.format = MatrixFormat::kBFloat16;
  } else if (says(words, "fp16")) {
    run.format = MatrixFormat::kFloat16;
    run.half_precision = true;
  } else {
    return false;
  }
  if (says(words, "fp32 grad") || says(words, "amp")) {
    run.gradient_32 = true;
  }
  if (says(words, "pure")) {
    run.gradient_32 = false;
  }
  return true;
}

bool read_recompute(std::string_view words, TrainingRun& run) {
  if (words == "none") {
    run.recompute = Recompute::kNone;
  } else if (words.starts_with("full")) {
    run.recompute = Recompute::kFull;
  } else if (words.starts_with("selective")) {
    run.recompute = Recompute::kSelective;
    if (says(words, "every 2nd layer")) {
      run.selective = SelectiveKind::kEverySecondLayer;
    } else if (says(words, "op")) {
      run.selective = SelectiveKind::kOperations;
    }
  } else {
    return false;
  }
  return true;
}

void read_schedule(std::string_view words, TrainingRun& run) {
  run.schedule = std::string(words.substr(0, words.find_first_of(" ,")));
  if (says(words, "interlaced")) {
    run.vocabulary_placement = VocabularyPlacement::kInterlaced;
  } else if (says(words, "vocab")) {
    run.vocabulary_placement = says(words, "vocab-2") ? VocabularyPlacement::kAllStagesOnce
                                                      : VocabularyPlacement::kAllStages;
  } else if (says(words, "redistributed")) {
    run.vocabulary_placement = VocabularyPlacement::kRedistributed;
  }
}

MemoryKind read_memory_kind(std::string_view words) {
  if (says(words, "LAST rank")) {
    return MemoryKind::kAllocatedLastStage;
  }
  if (says(words, "nvidia-smi")) {
    return MemoryKind::kDriver;
  }
  if (says(words, "reserved")) {
    return MemoryKind::kReserved;
  }
  if (says(words, "allocated")) {
    return MemoryKind::kAllocated;
  }
  return MemoryKind::kUnknown;
}

}  // namespace stagewright
