#include "runtime/trainer/replica_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/base/hash.h"
#include "runtime/compute/kernels/convert.h"
#include "runtime/executor/local_parameter.h"

namespace stagewright {

namespace {

/// What ranks tell each other of a part.
struct Told {
  std::uint64_t content = 0;  ///< hash
  double norm = 0;
};

/// Which elements of which parameter these are; tied ones are one and the same.
[[nodiscard]] std::uint64_t key_of(const ParameterSlice& parameter,
                                   const LocalMatrix& local,
                                   const LocalRange& range) {
  return hash64(fmt::format("{} {} {} {} {} {} {} {}",
                            parameter.tied_to ? *parameter.tied_to : parameter.name,
                            local.slice.first_row,
                            local.slice.first_column,
                            local.rows,
                            local.columns,
                            local.row_pitch,
                            range.first,
                            range.count));
}

template <class T, class Widen>
[[nodiscard]] double norm_of(std::span<const std::byte> content, Widen widen) {
  double sum = 0;
  for (std::size_t at = 0; at + sizeof(T) <= content.size(); at += sizeof(T)) {
    T element{};
    std::memcpy(&element, content.data() + at, sizeof(T));
    const double x = widen(element);
    sum += x * x;
  }
  return std::sqrt(sum);
}

[[nodiscard]] double norm_of(std::span<const std::byte> content, DType type) {
  if (type == DType::kBFloat16) {
    return norm_of<std::uint16_t>(content, [](auto x) { return kernels::from_bfloat16(x); });
  }
  if (type == DType::kFloat16) {
    return norm_of<std::uint16_t>(content, [](auto x) { return kernels::from_float16(x); });
  }
  return norm_of<float>(content, [](float x) { return x; });
}

}  // namespace

ReplicaCheck::ReplicaCheck(const Schedule& schedule, const RankExecutor& executor)
    : schedule_(schedule), keys_(schedule.ranks.size()) {
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const RankBinding& binding = schedule.ranks[rank];
    const auto& table = schedule.programs[binding.program.index()].parameters;
    for (const ParameterSlice& parameter : table) {
      const LocalMatrix local = local_matrix(parameter, binding);
      const LocalRange range = local_range(parameter, binding, local);
      keys_[rank].push_back(key_of(parameter, local, range));
      if (rank == executor.plan().rank.index()) {
        parts_.push_back({parameter.weight, range.to, range.count});
      }
    }
    longest_ = std::max(longest_, table.size());
  }
}

std::optional<Error> ReplicaCheck::differing(RankExecutor& executor, HostValues& values) const {
  std::vector<Told> own(longest_);
  std::vector<std::byte> content;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const DType type = executor.plan().program->tensors[part.weight.index()].dtype;
    content.resize(static_cast<std::size_t>((size_of(type) * part.count).count()));
    executor.read_persistent(part.weight, part.first, content);
    own[i].content = hash64({reinterpret_cast<const char*>(content.data()), content.size()});
    own[i].norm = norm_of(content, type);
  }
  const std::vector<std::byte> gathered = values.gather(std::as_bytes(std::span(own)));
  std::vector<Told> all(gathered.size() / sizeof(Told));
  std::memcpy(all.data(), gathered.data(), gathered.size());
  struct Seen {
    std::size_t rank = 0;
    Told told;
  };
  std::unordered_map<std::uint64_t, Seen> seen;  // by key: the first rank that has it
  for (std::size_t rank = 0; rank < keys_.size(); ++rank) {
    for (std::size_t i = 0; i < keys_[rank].size(); ++i) {
      const Told& told = all[rank * longest_ + i];
      const auto [first, is_first] = seen.try_emplace(keys_[rank][i], Seen{rank, told});
      if (is_first || first->second.told.content == told.content) {
        continue;
      }
      const RankProgram& program = schedule_.programs[schedule_.ranks[rank].program.index()];
      return Error{ErrorCode::kBackendFailed,
                   fmt::format("replicas drift: '{}' is not the same on ranks {} and {} (norms {} "
                               "and {}); a device, its memory or a collective fails, since all "
                               "replicas make the same updates; go back to a checkpoint",
                               program.parameters[i].name,
                               first->second.rank,
                               rank,
                               first->second.told.norm,
                               told.norm),
                   {}};
    }
  }
  return std::nullopt;
}

}  // namespace stagewright
