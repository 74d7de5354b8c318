#include "nccl_team.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "runtime/comm/reduce.h"
#include "standins.h"

namespace standin {

namespace {

using stagewright::ElementType;
using stagewright::Reduction;

[[nodiscard]] ElementType element_type(ncclDataType_t type) {
  switch (type) {
    case ncclFloat32:
      return ElementType::kFloat32;
    case ncclBfloat16:
      return ElementType::kBFloat16;
    case ncclFloat16:
      return ElementType::kFloat16;
    case ncclInt32:
      return ElementType::kInt32;
    default:
      return ElementType::kByte;
  }
}

/// What all ranks of a collective must agree on.
[[nodiscard]] bool agree(const NcclCall& a, const NcclCall& b) {
  return a.kind == b.kind && a.count == b.count && a.type == b.type && a.peer == b.peer &&
         a.reduction == b.reduction;
}

[[nodiscard]] bool reduces(const NcclCall& call) {
  return call.kind == CallKind::kAllReduce || call.kind == CallKind::kReduceScatter;
}

}  // namespace

std::size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclFloat64:
    case ncclInt64:
    case ncclUint64:
      return 8;
    default:
      return 4;
  }
}

const char* name_of(CallKind kind) {
  switch (kind) {
    case CallKind::kAllReduce:
      return "ncclAllReduce";
    case CallKind::kReduceScatter:
      return "ncclReduceScatter";
    case CallKind::kAllGather:
      return "ncclAllGather";
    case CallKind::kBroadcast:
      return "ncclBroadcast";
    case CallKind::kSend:
      return "ncclSend";
    case CallKind::kReceive:
      return "ncclRecv";
  }
  return "";
}

std::string describe(const NcclCall& call) {
  return fmt::format("{} of {} elements of type {}, reduction {}, peer or root {}",
                     name_of(call.kind),
                     call.count,
                     static_cast<int>(call.type),
                     static_cast<int>(call.reduction),
                     call.peer);
}

void NcclMember::fail(ncclResult_t code, const std::string& text) {
  const std::lock_guard lock(mutex);
  if (error == ncclSuccess) {
    error = code;
    error_text = text;
  }
}

bool NcclTeam::join(int rank, int device) {
  const std::lock_guard lock(mutex_);
  for (const auto& [other, taken] : devices_) {
    if (other != rank && taken == device) {
      return false;
    }
  }
  devices_[rank] = device;
  changed_.notify_all();
  return true;
}

void NcclTeam::await_all() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return static_cast<int>(devices_.size()) == size_; });
}

void NcclTeam::collective(NcclMember& member, std::uint64_t sequence, const NcclCall& call) {
  std::unique_lock lock(mutex_);
  Meeting& meeting = meetings_[sequence];
  meeting.arrivals.resize(static_cast<std::size_t>(size_));
  const Arrival arrival{&member, call};
  note_disagreement(meeting, arrival);
  meeting.arrivals[static_cast<std::size_t>(member.rank)] = arrival;
  if (++meeting.arrived == size_ && !meeting.disagreed) {
    perform(meeting);
    meeting.done = true;
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return meeting.done || member.aborted; });
  if (!meeting.done) {
    meeting.arrived -= size_;  // never complete any more
  } else if (++meeting.left == size_) {
    meetings_.erase(sequence);
  }
}

void NcclTeam::note_disagreement(Meeting& meeting, const Arrival& late) {
  for (const Arrival& early : meeting.arrivals) {
    if (early.member == nullptr || agree(early.call, late.call)) {
      continue;
    }
    const std::string text = fmt::format("rank {} called {}, rank {} called {}",
                                         early.member->rank,
                                         describe(early.call),
                                         late.member->rank,
                                         describe(late.call));
    standin_problem(text.c_str());
    meeting.disagreed = true;
    early.member->fail(ncclInvalidUsage, text);
    late.member->fail(ncclInvalidUsage, text);
    return;
  }
}

void NcclTeam::perform(const Meeting& meeting) const {
  const NcclCall& first = meeting.arrivals.front().call;
  const std::size_t bytes = first.count * size_of(first.type);
  const auto ranks = static_cast<std::size_t>(size_);
  if (bytes == 0) {
    return;
  }
  std::vector<std::byte> result;
  if (reduces(first)) {
    const std::size_t total =
        first.kind == CallKind::kAllReduce ? first.count : first.count * ranks;
    result.resize(total * size_of(first.type));
    std::memcpy(result.data(), first.in, result.size());
    for (std::size_t rank = 1; rank < ranks; ++rank) {
      stagewright::accumulate(element_type(first.type),
                              first.reduction == ncclMax ? Reduction::kMax : Reduction::kSum,
                              result.data(),
                              meeting.arrivals[rank].call.in,
                              total);
    }
  } else if (first.kind == CallKind::kAllGather) {
    result.resize(bytes * ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::memcpy(result.data() + rank * bytes, meeting.arrivals[rank].call.in, bytes);
    }
  } else {
    const auto root = static_cast<std::size_t>(first.peer);
    const auto* data = static_cast<const std::byte*>(meeting.arrivals[root].call.in);
    result.assign(data, data + bytes);
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const bool part = first.kind == CallKind::kReduceScatter;
    std::memcpy(meeting.arrivals[rank].call.out,
                result.data() + (part ? rank * bytes : 0),
                part ? bytes : result.size());
  }
}

void NcclTeam::messages(NcclMember& member, const std::vector<NcclCall>& calls) {
  std::unique_lock lock(mutex_);
  std::vector<std::shared_ptr<Message>> sent;
  for (const NcclCall& call : calls) {
    if (call.kind == CallKind::kSend) {
      sent.push_back(std::make_shared<Message>(Message{&call, &member, false}));
      posted_[{member.rank, call.peer}].push_back(sent.back());
    }
  }
  changed_.notify_all();
  bool going = true;
  for (const NcclCall& call : calls) {
    if (going && call.kind == CallKind::kReceive) {
      going = take(member, call, lock);
    }
  }
  for (const auto& message : sent) {
    changed_.wait(lock, [&] { return message->taken || member.aborted; });
    if (!message->taken) {
      std::erase(posted_[{member.rank, message->call->peer}], message);
    }
  }
}

bool NcclTeam::take(NcclMember& member, const NcclCall& call, std::unique_lock<std::mutex>& lock) {
  auto& queue = posted_[{call.peer, member.rank}];
  changed_.wait(lock, [&] { return !queue.empty() || member.aborted; });
  if (member.aborted) {
    return false;
  }
  const std::shared_ptr<Message> message = queue.front();
  const NcclCall& send = *message->call;
  if (send.count * size_of(send.type) != call.count * size_of(call.type)) {
    const std::string text = fmt::format("rank {} called {}, rank {} called {}",
                                         call.peer,
                                         describe(send),
                                         member.rank,
                                         describe(call));
    standin_problem(text.c_str());
    message->sender->fail(ncclInvalidUsage, text);
    member.fail(ncclInvalidUsage, text);
    changed_.wait(lock, [&] { return member.aborted.load(); });
    return false;
  }
  queue.pop_front();
  if (call.count > 0) {
    std::memcpy(call.out, send.in, call.count * size_of(call.type));
  }
  message->taken = true;
  changed_.notify_all();
  return true;
}

void NcclTeam::hang(NcclMember& member) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return member.aborted.load(); });
}

void NcclTeam::abort(NcclMember& member) {
  const std::lock_guard lock(mutex_);  // nobody is inside a transfer
  member.aborted = true;
  changed_.notify_all();
}

std::pair<std::shared_ptr<NcclTeam>, int> NcclTeam::split(NcclMember& member,
                                                          std::uint64_t sequence,
                                                          int color,
                                                          int key) {
  std::unique_lock lock(mutex_);
  Split& split = splits_[sequence];
  split.colors[member.rank] = {color, key};
  changed_.notify_all();
  changed_.wait(lock,
                [&] { return static_cast<int>(split.colors.size()) == size_ || member.aborted; });
  std::pair<std::shared_ptr<NcclTeam>, int> joined{nullptr, 0};
  if (color != NCCL_SPLIT_NOCOLOR && !member.aborted) {
    std::vector<std::pair<int, int>> members;  // key, rank
    for (const auto& [rank, chosen] : split.colors) {
      if (chosen.first == color) {
        members.emplace_back(chosen.second, rank);
      }
    }
    std::sort(members.begin(), members.end());
    auto& team = split.teams[color];
    if (team == nullptr) {
      team = std::make_shared<NcclTeam>(static_cast<int>(members.size()));
    }
    const auto own = std::find(members.begin(), members.end(), std::pair{key, member.rank});
    joined = {team, static_cast<int>(own - members.begin())};
  }
  if (++split.left == size_) {
    splits_.erase(sequence);
  }
  return joined;
}

}  // namespace standin
