#include "study/predicted_memory.h"

#include <string_view>

namespace stagewright {
namespace {

bool says(const MeasuredRecord& record, std::string_view key, std::string_view value) {
  const auto found = record.details.find(std::string(key));
  return found != record.details.end() && found->second == value;
}

/// The record's run with what its framework-specific fields say about attention and loss.
TrainingSetup with_details(const MeasuredRecord& record, const TrainingSetup& setup) {
  TrainingSetup detailed = setup;
  if (!detailed.run.flash_attention &&
      (says(record, "attention_backend", "unfused") || says(record, "transformer_impl", "local"))) {
    detailed.run.flash_attention = false;
  }
  if (!detailed.run.fused_loss && says(record, "loss_fusion", "true")) {
    detailed.run.fused_loss = true;
  }
  return detailed;
}

MemoryView view_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kAllocated:
    case MemoryKind::kAllocatedLastStage:
      return MemoryView::kAllocated;
    case MemoryKind::kReserved:
    case MemoryKind::kUnknown:
      return MemoryView::kReserved;
    case MemoryKind::kDriver:
      return MemoryView::kDriver;
  }
  return MemoryView::kReserved;
}

}  // namespace

MemoryPrediction predict_memory(const MeasuredRecord& record,
                                const TrainingSetup& setup,
                                const MemoryConstants& constants) {
  const TrainingSetup detailed = with_details(record, setup);
  const StageMemory fullest = step_memory(detailed, constants);
  MemoryPrediction prediction;
  prediction.fits = fits(fullest, setup.device);
  prediction.memory = record.memory_kind == MemoryKind::kAllocatedLastStage
                          ? stage_memory(detailed, constants, detailed.run.pp - 1)
                          : fullest;
  prediction.bytes =
      static_cast<double>(prediction.memory.seen_as(view_of(record.memory_kind)).count());
  return prediction;
}

}  // namespace stagewright
