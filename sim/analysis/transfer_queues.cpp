#include "sim/analysis/transfer_queues.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/schedule/channels.h"

namespace stagewright {
namespace {

bool of_activation(ActionKind kind) {
  return kind == ActionKind::kSendActivation || kind == ActionKind::kRecvActivation;
}

}  // namespace

std::string_view name_of(QueueModel model) {
  switch (model) {
    case QueueModel::kRank:
      return "rank";
    case QueueModel::kPair:
      return "pair";
    case QueueModel::kDir:
      return "dir";
    case QueueModel::kKind:
      return "kind";
    case QueueModel::kChannel:
      return "channel";
  }
  SW_CHECK(false, "a queue model that has a name");
}

TransferQueues::TransferQueues(const TokenList& list, QueueModel model, Duration transfer)
    : list_(list), model_(model), transfer_(transfer), last_call_(list.ranks.size()) {}

TransferQueues::Ends TransferQueues::ends_of(std::int32_t rank, const Action& action) const {
  const std::int32_t peer = list_.rank_of(other_side(action).stage, action.micro_batch);
  const bool sends = is_send(action.kind);
  return {sends ? rank : peer, sends ? peer : rank, of_activation(action.kind) ? 0 : 1};
}

TransferQueues::QueueKey TransferQueues::queue_key(std::int32_t rank, const Ends& ends) const {
  const std::int32_t peer = ends.from == rank ? ends.to : ends.from;
  switch (model_) {
    case QueueModel::kRank:
      return {rank, -1, -1, -1};
    case QueueModel::kPair:
      return {rank, peer, -1, -1};
    case QueueModel::kDir:
      return {rank, ends.from, ends.to, -1};
    case QueueModel::kKind:
      return {rank, peer, -1, ends.kind};
    case QueueModel::kChannel:
      return {rank, ends.from, ends.to, ends.kind};
  }
  SW_CHECK(false, "a queue model that is listed");
}

TransferQueues::SideKey TransferQueues::side_key(const Ends& ends) const {
  const bool by_kind = model_ == QueueModel::kKind || model_ == QueueModel::kChannel;
  return {ends.from, ends.to, by_kind ? ends.kind : -1};
}

std::size_t TransferQueues::queue_of(std::int32_t rank, const Ends& ends) {
  const auto [found, added] = queue_index_.emplace(queue_key(rank, ends), queues_.size());
  if (added) {
    queues_.emplace_back();
  }
  return found->second;
}

std::optional<ListFault> TransferQueues::issue(std::int32_t rank,
                                               const ListItem& item,
                                               Duration now) {
  std::vector<std::size_t> queues;
  std::vector<std::size_t>& call = last_call_[static_cast<std::size_t>(rank)];
  call.clear();
  for (const Action& action : item.actions) {
    const std::size_t queue = queue_of(rank, ends_of(rank, action));
    const auto slot =
        static_cast<std::size_t>(std::find(queues.begin(), queues.end(), queue) - queues.begin());
    if (slot == queues.size()) {
      queues.push_back(queue);
      call.push_back(parts_.size());
      queues_[queue].parts.push_back(parts_.size());
      parts_.push_back({.ready = now, .queue = queue, .rank = rank});
    }
    Part& part = parts_[call[slot]];
    part.actions.push_back(action);
    ++part.left;
  }
  return run(std::move(queues));
}

std::optional<ListFault> TransferQueues::run(std::vector<std::size_t> queues) {
  while (!queues.empty()) {
    const std::size_t queue = queues.back();
    queues.pop_back();
    if (auto fault = open_head(queue, queues)) {
      return fault;
    }
  }
  return std::nullopt;
}

std::optional<ListFault> TransferQueues::open_head(std::size_t queue,
                                                   std::vector<std::size_t>& ready) {
  if (queues_[queue].head == queues_[queue].parts.size()) {
    return std::nullopt;
  }
  const std::size_t index = queues_[queue].parts[queues_[queue].head];
  if (std::exchange(parts_[index].open, true)) {
    return std::nullopt;
  }
  const Duration start = std::max(parts_[index].ready, queues_[queue].free);
  for (const Action& action : parts_[index].actions) {
    Meeting& meeting = meetings_[side_key(ends_of(parts_[index].rank, action))];
    auto& mine = is_send(action.kind) ? meeting.sends : meeting.receives;
    const auto& theirs = is_send(action.kind) ? meeting.receives : meeting.sends;
    mine.push_back({action, start, index});
    if (theirs.size() >= mine.size()) {
      const std::size_t place = mine.size() - 1;
      if (auto fault = meet(meeting.sends[place], meeting.receives[place], ready)) {
        return fault;
      }
    }
  }
  return std::nullopt;
}

std::optional<ListFault> TransferQueues::meet(const Side& send,
                                              const Side& receive,
                                              std::vector<std::size_t>& ready) {
  if (other_side(send.action) != receive.action) {
    return ListFault{ListFaultKind::kMismatch,
                     fmt::format("rank {} receives {} where rank {} sends {}",
                                 parts_[receive.part].rank,
                                 to_string(receive.action),
                                 parts_[send.part].rank,
                                 to_string(send.action))};
  }
  const Duration end = std::max(send.opened, receive.opened) + transfer_;
  arrivals_[arrival_index(receive.action)] = end;
  finish_one(send.part, end, ready);
  finish_one(receive.part, end, ready);
  return std::nullopt;
}

void TransferQueues::finish_one(std::size_t part, Duration end, std::vector<std::size_t>& ready) {
  Part& done = parts_[part];
  done.end = std::max(done.end, end);
  if (--done.left == 0) {
    Queue& queue = queues_[done.queue];
    queue.free = std::max(queue.free, done.end);
    ++queue.head;
    ready.push_back(done.queue);
  }
}

std::optional<Duration> TransferQueues::last_call_done(std::int32_t rank) const {
  Duration end{};
  for (const std::size_t part : last_call_[static_cast<std::size_t>(rank)]) {
    if (parts_[part].left > 0) {
      return std::nullopt;
    }
    end = std::max(end, parts_[part].end);
  }
  return end;
}

bool TransferQueues::done(const Action& transfer) const {
  return received(is_send(transfer.kind) ? other_side(transfer) : transfer).has_value();
}

std::vector<TransferQueues::Waiting> TransferQueues::waiting() const {
  std::vector<Waiting> all;
  for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
    const Queue& calls = queues_[queue];
    for (std::size_t place = calls.head; place < calls.parts.size(); ++place) {
      const Part& part = parts_[calls.parts[place]];
      for (const Action& action : part.actions) {
        if (!done(action)) {
          all.push_back({part.rank, action, queue, part.open});
        }
      }
    }
  }
  return all;
}

std::size_t TransferQueues::arrival_index(const Action& receive) const {
  const std::size_t row = receive.stage.index() * static_cast<std::size_t>(list_.micro_batches) +
                          receive.micro_batch.index();
  return 2 * row + (of_activation(receive.kind) ? 0 : 1);
}

std::optional<Duration> TransferQueues::received(const Action& receive) const {
  const auto found = arrivals_.find(arrival_index(receive));
  return found == arrivals_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace stagewright
