#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/schedule/checks.h"

namespace stagewright {
namespace {

/// By micro-batch: whether a program runs that phase of a stage.
using Runs = std::vector<bool>;

struct StageRuns {
  Runs forward;
  Runs backward;
  Runs input_half;
  Runs weight_half;
};

std::map<StageId, StageRuns> runs_of(const RankProgram& program, std::size_t micro_batches) {
  std::map<StageId, StageRuns> runs;
  for (const StageProgram& stage : program.stages) {
    const Runs none(micro_batches);
    runs[stage.stage] = {none, none, none, none};
  }
  for (const Action& action : program.actions) {
    const std::size_t m = action.micro_batch.index();
    if (action.kind == ActionKind::kForward) {
      runs[action.stage].forward[m] = true;
    } else if (action.kind == ActionKind::kBackward) {
      runs[action.stage].backward[m] = true;
    } else if (action.kind == ActionKind::kBackwardInput) {
      runs[action.stage].input_half[m] = true;
    } else if (action.kind == ActionKind::kBackwardWeight) {
      runs[action.stage].weight_half[m] = true;
    }
  }
  return runs;
}

tl::unexpected<Error> reject(RankId rank, std::string message) {
  return fail(ErrorCode::kInvalidInput, fmt::format("rank {}: {}", rank.value(), message));
}

/// Every forward has its whole backward.
Result<void> check_program(const std::map<StageId, StageRuns>& runs, RankId rank, bool trains) {
  for (const auto& [stage, run] : runs) {
    for (std::size_t m = 0; m < run.forward.size(); ++m) {
      const std::string what = fmt::format("stage {}, micro-batch {}", stage.value(), m);
      if (run.backward[m] && (run.input_half[m] || run.weight_half[m])) {
        return reject(rank, "the backward of " + what + " runs whole and in halves; choose one");
      }
      if (run.input_half[m] != run.weight_half[m]) {
        return reject(rank,
                      fmt::format("the backward of {} lacks its {} half; add {}{}{}",
                                  what,
                                  run.input_half[m] ? "weight" : "input",
                                  stage.value(),
                                  run.input_half[m] ? 'W' : 'I',
                                  m));
      }
      if (trains && run.forward[m] && !run.backward[m] && !run.input_half[m]) {
        return reject(rank, fmt::format("{} runs forward but never backward", what));
      }
    }
  }
  return {};
}

/// A list that holds a stage, and the first rank that runs it.
struct Holder {
  RankId rank;
  const Runs* forward = nullptr;
};

/// Holders with equal micro-batches share the work of each; those with different ones must divide
/// the micro-batches among them.
Result<void> check_division(const std::vector<Holder>& holders,
                            StageId stage,
                            std::int32_t replica,
                            std::int32_t micro_batches) {
  std::vector<Holder> distinct;
  for (const Holder& holder : holders) {
    if (std::ranges::none_of(
            distinct, [&](const Holder& other) { return *other.forward == *holder.forward; })) {
      distinct.push_back(holder);
    }
  }
  for (std::int32_t m = 0; m < micro_batches; ++m) {
    const auto runs = [m](const Holder& holder) {
      return (*holder.forward)[static_cast<std::size_t>(m)];
    };
    const auto first = std::ranges::find_if(distinct, runs);
    if (first == distinct.end()) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("stage {} never runs micro-batch {}{}; add {}F{} and its backward",
                              stage.value(),
                              m,
                              replica == 0 ? "" : fmt::format(" of replica {}", replica),
                              stage.value(),
                              m));
    }
    const auto second = std::find_if(first + 1, distinct.end(), runs);
    if (second != distinct.end()) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("stage {} runs micro-batch {} on rank {} and again on rank {}, whose "
                              "other micro-batches differ",
                              stage.value(),
                              m,
                              first->rank.value(),
                              second->rank.value()));
    }
  }
  return {};
}

using ProgramRuns = std::vector<std::map<StageId, StageRuns>>;

/// Every stage of every replica and part of its sequences, equal sets of programs once.
Result<void> check_stages(const Schedule& schedule, const ProgramRuns& runs) {
  const std::int32_t parts = schedule.sequence_parts;
  std::map<std::pair<std::int32_t, StageId>, std::map<ProgramId, RankId>>
      holders;  // by part, stage
  for (std::size_t i = 0; i < schedule.ranks.size(); ++i) {
    const RankBinding& binding = schedule.ranks[i];
    for (const auto& [stage, run] : runs[binding.program.index()]) {
      holders[{binding.replica * parts + binding.sequence_part, stage}].try_emplace(binding.program,
                                                                                    RankId(i));
    }
  }
  std::set<std::pair<StageId, std::vector<ProgramId>>> known;
  for (std::int32_t part = 0; part < schedule.replicas * parts; ++part) {
    for (std::int32_t s = 0; s < schedule.stages; ++s) {
      const StageId stage(s);
      std::vector<ProgramId> programs;
      std::vector<Holder> found;
      for (const auto& [program, rank] : holders[{part, stage}]) {
        programs.push_back(program);
        found.push_back({rank, &runs[program.index()].at(stage).forward});
      }
      if (!known.emplace(stage, std::move(programs)).second) {
        continue;
      }
      if (auto checked = check_division(found, stage, part / parts, schedule.micro_batches);
          !checked) {
        return checked;
      }
    }
  }
  return {};
}

bool is_backward(const Action& action) {
  return is_compute(action.kind) && action.kind != ActionKind::kForward &&
         action.kind != ActionKind::kRecompute;
}

}  // namespace

Result<void> check_coverage(const Schedule& schedule) {
  const bool trains = std::ranges::any_of(schedule.programs, [](const RankProgram& program) {
    return std::ranges::any_of(program.actions, is_backward);
  });
  ProgramRuns runs;
  runs.reserve(schedule.programs.size());
  for (const RankProgram& program : schedule.programs) {
    runs.push_back(runs_of(program, static_cast<std::size_t>(schedule.micro_batches)));
  }
  const auto ranks = first_ranks(schedule);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (auto checked = check_program(runs[i], ranks[i], trains); !checked) {
      return checked;
    }
  }
  return check_stages(schedule, runs);
}

}  // namespace stagewright
