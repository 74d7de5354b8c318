#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nccl_team.h"

namespace standin {

/// A communicator whose ranks are processes of this machine: what they call lies in files of a
/// folder, where the others wait for it.
class NcclProcessTeam final : public NcclTeam {
 public:
  /// All ranks name the same `files`: the folder and what the team's files begin with.
  NcclProcessTeam(int size, std::string files) : NcclTeam(size), files_(std::move(files)) {}

  [[nodiscard]] bool join(int rank, int device) override;
  void await_all() override;
  void collective(NcclMember& member, std::uint64_t sequence, const NcclCall& call) override;
  void messages(NcclMember& member, const std::vector<NcclCall>& calls) override;
  void hang(NcclMember& member) override;
  void abort(NcclMember& member) override;
  [[nodiscard]] std::pair<std::shared_ptr<NcclTeam>, int> split(NcclMember& member,
                                                                std::uint64_t sequence,
                                                                int color,
                                                                int key) override;

 private:
  using Bytes = std::vector<std::byte>;
  void write(const std::string& name, const Bytes& bytes) const;
  /// Empty where the member aborts first; null: nobody can.
  [[nodiscard]] Bytes await(const std::string& name, const NcclMember* member) const;

  std::string files_;
  std::map<std::pair<int, int>, int> messages_;  // so far, from and to this rank
};

}  // namespace standin
