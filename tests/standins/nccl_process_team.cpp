#include "nccl_process_team.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include <fmt/format.h>

#include "standins.h"

namespace standin {

namespace {

/// Other processes cannot wake this one.
constexpr auto kLook = std::chrono::microseconds(100);

/// What a call says, without its pointers, and the data that it sends.
struct Sent {
  NcclCall call;
  std::vector<std::byte> data;
};

[[nodiscard]] std::vector<std::byte> to_bytes(const NcclCall& call, std::size_t bytes) {
  std::vector<std::byte> file(sizeof(call) + bytes);
  std::memcpy(file.data(), &call, sizeof(call));
  if (bytes > 0) {
    std::memcpy(file.data() + sizeof(call), call.in, bytes);
  }
  return file;
}

[[nodiscard]] Sent from_bytes(const std::vector<std::byte>& file) {
  Sent sent;
  std::memcpy(&sent.call, file.data(), sizeof(sent.call));
  sent.data.assign(file.begin() + sizeof(sent.call), file.end());
  sent.call.in = sent.data.data();
  return sent;
}

[[nodiscard]] std::size_t bytes_of(const NcclCall& call) {
  return call.count * size_of(call.type);
}

}  // namespace

void NcclProcessTeam::write(const std::string& name, const Bytes& bytes) const {
  const std::string made = files_ + name;
  const std::string temporary = made + ".new";
  std::ofstream(temporary, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  std::rename(temporary.c_str(), made.c_str());
}

NcclProcessTeam::Bytes NcclProcessTeam::await(const std::string& name,
                                              const NcclMember* member) const {
  while (member == nullptr || !member->aborted) {
    if (std::ifstream file(files_ + name, std::ios::binary); file) {
      const std::string text(std::istreambuf_iterator<char>(file), {});
      Bytes bytes(text.size());
      std::memcpy(bytes.data(), text.data(), text.size());
      return bytes;
    }
    std::this_thread::sleep_for(kLook);
  }
  return {};
}

bool NcclProcessTeam::join(int rank, int device) {
  Bytes own(sizeof(device));
  std::memcpy(own.data(), &device, sizeof(device));
  write(fmt::format("join.{}", rank), own);
  bool alone = true;
  for (int other = 0; other < size(); ++other) {
    const Bytes taken = await(fmt::format("join.{}", other), nullptr);
    alone = alone && (other == rank || taken != own);
  }
  return alone;
}

// join() has waited for them.
void NcclProcessTeam::await_all() {}

void NcclProcessTeam::collective(NcclMember& member, std::uint64_t sequence, const NcclCall& call) {
  const std::size_t parts =
      call.kind == CallKind::kReduceScatter ? static_cast<std::size_t>(size()) : 1;
  const auto name = [&](int rank) { return fmt::format("collective.{}.{}", sequence, rank); };
  write(name(member.rank), to_bytes(call, bytes_of(call) * parts));
  Meeting meeting;
  meeting.arrivals.resize(static_cast<std::size_t>(size()));
  std::vector<Sent> sent(meeting.arrivals.size());
  std::vector<Bytes> results(meeting.arrivals.size());
  for (int rank = 0; rank < size(); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    const Bytes file = await(name(rank), &member);
    if (file.empty()) {
      return;
    }
    sent[at] = from_bytes(file);
    results[at].resize(bytes_of(call) * static_cast<std::size_t>(size()));
    sent[at].call.out = rank == member.rank ? call.out : results[at].data();
    const Arrival arrival{&member, sent[at].call};
    note_disagreement(meeting, arrival);
    meeting.arrivals[at] = arrival;
  }
  if (meeting.disagreed) {
    return hang(member);
  }
  perform(meeting);
}

void NcclProcessTeam::messages(NcclMember& member, const std::vector<NcclCall>& calls) {
  std::vector<std::string> sent;
  for (const NcclCall& call : calls) {
    if (call.kind == CallKind::kSend) {
      sent.push_back(fmt::format(
          "message.{}.{}.{}", member.rank, call.peer, messages_[{member.rank, call.peer}]++));
      write(sent.back(), to_bytes(call, bytes_of(call)));
    }
  }
  for (const NcclCall& call : calls) {
    if (call.kind != CallKind::kReceive) {
      continue;
    }
    // A message to itself is counted where it is received, too.
    const int number = messages_[{call.peer, -1 - member.rank}]++;
    const std::string name = fmt::format("message.{}.{}.{}", call.peer, member.rank, number);
    const Bytes file = await(name, &member);
    if (file.empty()) {
      return;
    }
    const Sent message = from_bytes(file);
    if (message.data.size() != bytes_of(call)) {
      const std::string text = fmt::format("rank {} called {}, rank {} called {}",
                                           call.peer,
                                           describe(message.call),
                                           member.rank,
                                           describe(call));
      standin_problem(text.c_str());
      member.fail(ncclInvalidUsage, text);
      return hang(member);
    }
    if (!message.data.empty()) {
      std::memcpy(call.out, message.data.data(), message.data.size());
    }
    write(name + ".taken", Bytes(1));
  }
  for (const std::string& name : sent) {
    static_cast<void>(await(name + ".taken", &member));
  }
}

void NcclProcessTeam::hang(NcclMember& member) {
  while (!member.aborted) {
    std::this_thread::sleep_for(kLook);
  }
}

void NcclProcessTeam::abort(NcclMember& member) {
  member.aborted = true;
}

std::pair<std::shared_ptr<NcclTeam>, int> NcclProcessTeam::split(NcclMember& member,
                                                                 std::uint64_t sequence,
                                                                 int color,
                                                                 int key) {
  const std::array<int, 2> own{color, key};
  Bytes chosen(sizeof(own));
  std::memcpy(chosen.data(), &own, sizeof(own));
  const auto name = [&](int rank) { return fmt::format("split.{}.{}", sequence, rank); };
  write(name(member.rank), chosen);
  std::vector<std::pair<int, int>> members;  // key, rank
  for (int rank = 0; rank < size(); ++rank) {
    const Bytes file = await(name(rank), &member);
    std::array<int, 2> other{};
    if (file.size() != sizeof(other)) {
      return {nullptr, 0};
    }
    std::memcpy(&other, file.data(), sizeof(other));
    if (other[0] == color) {
      members.emplace_back(other[1], rank);
    }
  }
  if (color == NCCL_SPLIT_NOCOLOR) {
    return {nullptr, 0};
  }
  std::sort(members.begin(), members.end());
  const auto at = std::find(members.begin(), members.end(), std::pair{key, member.rank});
  return {std::make_shared<NcclProcessTeam>(static_cast<int>(members.size()),
                                            fmt::format("{}{}.{}.", files_, sequence, color)),
          static_cast<int>(at - members.begin())};
}

}  // namespace standin
