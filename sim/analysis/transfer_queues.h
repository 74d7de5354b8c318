#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/base/units.h"
#include "core/schedule/token_list.h"
#include "sim/analysis/list_fault.h"

namespace stagewright {

/// Which transfers of a rank go one after the other.  Calls of one queue run in the order in which
/// they are made, as a communicator's operations run on its stream.
enum class QueueModel : std::uint8_t {
  kRank,     ///< all of a rank
  kPair,     ///< with one neighbour
  kDir,      ///< with one neighbour in one direction
  kKind,     ///< with one neighbour, activations and gradients apart
  kChannel,  ///< with one neighbour, by kind and direction
};
inline constexpr std::array kQueueModels{QueueModel::kRank,
                                         QueueModel::kPair,
                                         QueueModel::kDir,
                                         QueueModel::kKind,
                                         QueueModel::kChannel};
/// "rank", "pair", "dir", "kind", "channel".
[[nodiscard]] std::string_view name_of(QueueModel model);

/// Rendezvous transfers under one queue model.  A call waits for the call before it on its queue;
/// then all its operations are open, and each is done one transfer after both its sides are open.
/// Sends and receives between the same two sides meet in the order in which they open.
/// The list must outlive the queues and have no fault of coverage.
class TransferQueues {
 public:
  TransferQueues(const TokenList& list, QueueModel model, Duration transfer);

  /// A rank calls a group of transfers at that time.  Two queues take their parts of it apart.
  /// Fails with a mismatch when a receive meets a message that is not its own.
  [[nodiscard]] std::optional<ListFault> issue(std::int32_t rank,
                                               const ListItem& item,
                                               Duration now);
  /// When the operations of the last call of a rank are all done; nothing as long as they are not.
  [[nodiscard]] std::optional<Duration> last_call_done(std::int32_t rank) const;
  /// When what a stage receives for a micro-batch has arrived; nothing as long as it has not.
  [[nodiscard]] std::optional<Duration> received(const Action& receive) const;
  /// Whether the message of a send or receive has arrived.
  [[nodiscard]] bool done(const Action& transfer) const;

  /// A send or receive that a rank has called and that is not done.
  struct Waiting {
    std::int32_t rank = 0;
    Action action;
    std::size_t queue = 0;
    bool open = false;  ///< it is its queue's turn; the other side is what it waits for
  };
  /// All of them, those of a queue in its order.
  [[nodiscard]] std::vector<Waiting> waiting() const;

 private:
  /// rank, from, to and kind as far as the model tells queues apart by them, else -1.
  using QueueKey = std::tuple<std::int32_t, std::int32_t, std::int32_t, int>;
  /// from, to and kind as far as the model tells messages apart.
  using SideKey = std::tuple<std::int32_t, std::int32_t, int>;
  struct Part {
    Duration ready{};
    std::vector<Action> actions;
    std::size_t left = 0;  ///< not yet done
    bool open = false;     ///< it has been its queue's turn
    Duration end{};
    std::size_t queue = 0;
    std::int32_t rank = 0;
  };
  struct Queue {
    std::vector<std::size_t> parts;
    std::size_t head = 0;
    Duration free{};
  };
  struct Side {
    Action action;
    Duration opened{};
    std::size_t part = 0;
  };
  struct Meeting {
    std::vector<Side> sends;
    std::vector<Side> receives;
  };

  struct Ends {
    std::int32_t from = 0;
    std::int32_t to = 0;
    int kind = 0;
  };
  [[nodiscard]] Ends ends_of(std::int32_t rank, const Action& action) const;
  [[nodiscard]] QueueKey queue_key(std::int32_t rank, const Ends& ends) const;
  [[nodiscard]] SideKey side_key(const Ends& ends) const;
  std::size_t queue_of(std::int32_t rank, const Ends& ends);
  [[nodiscard]] std::optional<ListFault> run(std::vector<std::size_t> queues);
  [[nodiscard]] std::optional<ListFault> open_head(std::size_t queue,
                                                   std::vector<std::size_t>& ready);
  [[nodiscard]] std::optional<ListFault> meet(const Side& send,
                                              const Side& receive,
                                              std::vector<std::size_t>& ready);
  void finish_one(std::size_t part, Duration end, std::vector<std::size_t>& ready);
  [[nodiscard]] std::size_t arrival_index(const Action& receive) const;

  const TokenList& list_;
  QueueModel model_;
  Duration transfer_;
  std::map<QueueKey, std::size_t> queue_index_;
  std::vector<Queue> queues_;
  std::vector<Part> parts_;
  std::map<SideKey, Meeting> meetings_;
  std::vector<std::vector<std::size_t>> last_call_;  ///< [rank] its parts
  std::map<std::size_t, Duration> arrivals_;
};

}  // namespace stagewright
