#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/schedule/checks.h"

namespace stagewright {
namespace {

/// A collective in a list.
struct Call {
  std::int32_t action = 0;
  std::int32_t op = 0;
  const Action* issued_by = nullptr;
  const Operation* operation = nullptr;
};

/// Whether two members do the same.  Equal sizes alone would let different micro-batches meet.
bool agree(const Call& one, const Call& other) {
  const Operation& a = *one.operation;
  const Operation& b = *other.operation;
  const bool one_subject =
      one.issued_by->micro_batch == other.issued_by->micro_batch &&
      (!is_compute(one.issued_by->kind) || one.issued_by->stage == other.issued_by->stage);
  return one_subject && a.kind == b.kind && a.variant == b.variant && a.dtype == b.dtype &&
         a.shape == b.shape && a.index == b.index;
}

std::string described(const Operation& op) {
  return fmt::format("{} of {} {}", name_of(op.kind), op.shape.cols, name_of(op.dtype));
}

/// By group slot, up to the highest one in use, in issue order.
std::vector<std::vector<Call>> calls_of(const RankProgram& program) {
  std::vector<std::vector<Call>> calls;
  for (std::size_t i = 0; i < program.actions.size(); ++i) {
    const ActionOperations run = operations_of(program, program.actions[i]);
    for (std::size_t j = 0; j < run.ops.size(); ++j) {
      const Operation& op = run.ops[j];
      if (op.group && run.includes(op) && class_of(op.kind) == OpClass::kCollective) {
        calls.resize(std::max(calls.size(), op.group->index() + 1));
        calls[op.group->index()].push_back(
            {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), &program.actions[i], &op});
      }
    }
  }
  return calls;
}

/// One member's part in a group.
struct Part {
  RankId rank;
  const std::vector<Call>* calls = nullptr;
};

std::string call_name(const Schedule& schedule, RankId rank, const Call& call) {
  return fmt::format("{}, operation {} ({})",
                     action_name(schedule, rank, call.action),
                     call.op,
                     described(*call.operation));
}

Result<void> compare(const Schedule& schedule, GroupId group, const Part& a, const Part& b) {
  const auto place = [&] {
    return fmt::format("group {} ({})", group.value(), schedule.groups[group.index()].kind);
  };
  const std::size_t common = std::min(a.calls->size(), b.calls->size());
  for (std::size_t i = 0; i < common; ++i) {
    if (!agree((*a.calls)[i], (*b.calls)[i])) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("as its collective {}, {} meets {}; all members must issue the same "
                              "ones in one order",
                              i,
                              call_name(schedule, a.rank, (*a.calls)[i]),
                              call_name(schedule, b.rank, (*b.calls)[i])),
                  place());
    }
  }
  if (a.calls->size() != b.calls->size()) {
    const Part& more = a.calls->size() > b.calls->size() ? a : b;
    const Part& fewer = a.calls->size() > b.calls->size() ? b : a;
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{} is collective {} of its rank, but rank {} issues only {}",
                            call_name(schedule, more.rank, (*more.calls)[common]),
                            common,
                            fewer.rank.value(),
                            common),
                place());
  }
  return {};
}

/// By group: what each member issues there, ascending by rank.
std::vector<std::vector<Part>> parts_of(const Schedule& schedule,
                                        const std::vector<std::vector<std::vector<Call>>>& calls,
                                        const std::vector<Call>& none) {
  std::vector<std::vector<Part>> parts(schedule.groups.size());
  for (std::size_t i = 0; i < schedule.ranks.size(); ++i) {
    const RankBinding& binding = schedule.ranks[i];
    const auto& own = calls[binding.program.index()];
    for (std::size_t slot = 0; slot < binding.groups.size(); ++slot) {
      parts[binding.groups[slot].index()].push_back(
          {RankId(i), slot < own.size() ? &own[slot] : &none});
    }
  }
  for (std::size_t g = 0; g < parts.size(); ++g) {
    for (const RankId member : schedule.groups[g].members) {
      // A member without a slot for the group issues nothing there.
      const auto found = std::ranges::lower_bound(parts[g], member, {}, &Part::rank);
      if (found == parts[g].end() || found->rank != member) {
        parts[g].insert(found, {member, &none});
      }
    }
  }
  return parts;
}

}  // namespace

Result<void> check_collectives(const Schedule& schedule) {
  std::vector<std::vector<std::vector<Call>>> calls;
  calls.reserve(schedule.programs.size());
  for (const RankProgram& program : schedule.programs) {
    calls.push_back(calls_of(program));
  }
  const std::vector<Call> none;
  const auto parts = parts_of(schedule, calls, none);
  // Equal programs issue the very same lists.
  std::set<std::pair<const std::vector<Call>*, const std::vector<Call>*>> known;
  for (std::size_t g = 0; g < parts.size(); ++g) {
    const Part& first = parts[g].front();
    for (const Part& part : parts[g]) {
      if (!known.emplace(first.calls, part.calls).second) {
        continue;
      }
      if (auto checked = compare(schedule, GroupId(g), first, part); !checked) {
        return checked;
      }
    }
  }
  return {};
}

}  // namespace stagewright
