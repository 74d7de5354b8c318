#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "runtime/comm/control_message.h"
#include "runtime/comm/tcp_socket.h"
#include "runtime/comm/world_places.h"

namespace stagewright {

struct ControlHubOptions {
  WorldSpec world;
  std::string token;
  std::string gift;          ///< what every rank gets when all have come
  Duration join_limit{};     ///< for all ranks to come
  Duration goodbye_limit{};  ///< at the end, for the others to say goodbye
  /// Why there is no run; then all that come are told, and the end waits for them to come.
  std::string no_start{};
};

/// Of rank 0: the process that all ranks of a run are connected to.  It brings them together, tells
/// all of them the first error of any, and knows who has begun which operation: so it sees members
/// that disagree, and can say who is missing where a rank waits in vain.
class ControlHub {
 public:
  /// Listens from now on; port 0 takes a free one.
  [[nodiscard]] static Result<std::unique_ptr<ControlHub>> start(ControlHubOptions options,
                                                                 std::uint16_t port);
  ControlHub(const ControlHub&) = delete;
  ControlHub& operator=(const ControlHub&) = delete;
  /// Waits for the goodbyes of the ranks that are still there.
  ~ControlHub();

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  struct Peer {
    TcpSocket socket;
    std::string received;
    std::optional<std::uint32_t> rank;  ///< since its hello
    bool gone = false;
  };
  struct Meeting {
    std::string contract;
    std::uint32_t first = 0;  ///< member who came first
    std::vector<bool> arrived;
    std::size_t missing = 0;
  };
  /// A rank has waited in vain; those who are missing have been asked what they do.
  struct Report {
    ControlMessage given_up;
    std::map<std::uint32_t, std::string> answers;  ///< by rank that was asked; "" before it answers
    Deadline deadline;
  };

  ControlHub(ControlHubOptions options, TcpListener listener);

  void run();
  void accept_all();
  void read(Peer& peer);
  void handle(Peer& peer, const ControlMessage& message);
  void greet(Peer& peer, const ControlMessage& hello);
  void welcome_all();
  void give_up_joining();
  void begin_no_more(Peer& peer, const ControlMessage& message);
  [[nodiscard]] bool all_told() const;
  void note_arrival(const ControlMessage& message);
  void begin_report(const ControlMessage& message);
  void note_answer(std::uint32_t rank, const std::string& answer);
  void end_report();
  [[nodiscard]] std::vector<std::uint32_t> missing_ranks(const MeetingNumber& meeting) const;
  void lose(Peer& peer, const std::string& why);
  void abort_all(const ControlMessage& reason);
  void send(Peer& peer, const ControlMessage& message);
  void refuse(Peer& peer, const std::string& why);
  [[nodiscard]] Peer* peer_of(std::uint32_t rank);
  [[nodiscard]] std::string ranks_text(bool present) const;
  [[nodiscard]] std::size_t present() const;

  ControlHubOptions options_;
  std::vector<WorldPlace> places_;
  TcpListener listener_;
  std::uint16_t port_ = 0;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Meeting> meetings_;  // place, sequence
  std::optional<Report> report_;
  std::set<std::uint32_t> finished_;
  std::string no_start_;          ///< why the run does not begin
  std::set<std::uint32_t> told_;  ///< ranks that know
  bool welcomed_ = false;
  bool aborted_ = false;
  Deadline join_deadline_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace stagewright
