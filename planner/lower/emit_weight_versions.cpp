#include "planner/lower/emit_weight_versions.h"

#include <map>
#include <utility>
#include <vector>

#include "planner/lower/emit_optimizer_step.h"

namespace stagewright {
namespace {

/// By tensor of version 0: that of another.
using Renaming = std::map<TensorId, TensorId>;

Renaming renaming_to(const RankDraft& draft, StageId stage, std::int32_t version) {
  Renaming renaming;
  for (const HeldWeight& held : draft.weights) {
    if (held.stages.front() == stage) {
      renaming.emplace(held.weight, held.version(version));
    }
  }
  return renaming;
}

void rename_inputs(std::vector<Operation>& ops, const Renaming& renaming) {
  for (Operation& op : ops) {
    for (TensorId& input : op.inputs) {
      if (const auto found = renaming.find(input); found != renaming.end()) {
        input = found->second;
      }
    }
  }
}

}  // namespace

void emit_weight_versions(const RankContext& context, RankDraft& draft) {
  if (!context.updates) {
    return;
  }
  std::vector<StageProgram> programs;
  for (const StageProgram& first : draft.program.stages) {
    const StageVersions& versions = context.versions_of(first.stage);
    for (std::int32_t version = 0; version < versions.slots; ++version) {
      StageProgram& program = programs.emplace_back(first);
      program.version = version;
      const Renaming renaming = renaming_to(draft, first.stage, version);
      for (std::vector<Operation>* ops :
           {&program.forward, &program.backward, &program.recompute}) {
        rename_inputs(*ops, renaming);
      }
      if (version == 0 || !versions.keeps_previous) {
        program.update = update_of_stage(context, draft, first.stage, version);
      }
    }
  }
  draft.program.stages = std::move(programs);
}

}  // namespace stagewright
