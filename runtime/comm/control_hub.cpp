#include "runtime/comm/control_hub.h"

#include <poll.h>

#include <algorithm>

#include <fmt/format.h>

namespace stagewright {

namespace {

using Clock = std::chrono::steady_clock;

/// How often the hub looks at its deadlines when nobody says anything.
constexpr auto kTick = std::chrono::milliseconds(20);
/// For one message to be taken.
constexpr auto kSendLimit = std::chrono::seconds(5);
/// For ranks that are asked what they do; a rank whose process hangs does not answer.
constexpr auto kAnswerLimit = std::chrono::milliseconds(1000);

[[nodiscard]] Deadline in(Duration limit) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
}

}  // namespace

Result<std::unique_ptr<ControlHub>> ControlHub::start(ControlHubOptions options,
                                                      std::uint16_t port) {
  Result<TcpListener> listener = TcpListener::listen(port);
  if (!listener) {
    return pass_on(std::move(listener));
  }
  return std::unique_ptr<ControlHub>(new ControlHub(std::move(options), *std::move(listener)));
}

ControlHub::ControlHub(ControlHubOptions options, TcpListener listener)
    : options_(std::move(options)),
      places_(places_of(options_.world)),
      listener_(std::move(listener)),
      port_(listener_.port()),
      no_start_(options_.no_start),
      join_deadline_(in(options_.join_limit)),
      thread_([this] { run(); }) {}

ControlHub::~ControlHub() {
  stopping_.store(true);
  thread_.join();
}

void ControlHub::run() {
  std::optional<Deadline> end;
  while (true) {
    std::vector<pollfd> waiting = {{listener_.descriptor(), POLLIN, 0}};
    for (const auto& peer : peers_) {
      waiting.push_back({peer->socket.descriptor(), POLLIN, 0});
    }
    (void)::poll(waiting.data(), waiting.size(), static_cast<int>(kTick.count()));
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      read(*peers_[i]);
    }
    std::erase_if(peers_, [](const auto& peer) { return peer->gone; });
    accept_all();
    const Deadline now = Clock::now();
    if (!welcomed_ && !aborted_ && now >= join_deadline_) {
      give_up_joining();
    }
    if (report_ && now >= report_->deadline) {
      end_report();
    }
    if (stopping_.load()) {
      end = end.value_or(in(options_.goodbye_limit));
      if ((present() == 0 && all_told()) || now >= *end) {
        return;
      }
    }
  }
}

void ControlHub::accept_all() {
  while (std::optional<TcpSocket> socket = listener_.accept()) {
    peers_.push_back(std::make_unique<Peer>());
    peers_.back()->socket = *std::move(socket);
  }
}

void ControlHub::read(Peer& peer) {
  const Result<void> open = peer.socket.receive(peer.received);
  while (!peer.gone) {
    Result<std::optional<ControlMessage>> message = take_message(peer.received);
    if (!message) {
      lose(peer, message.error().message);
      return;
    }
    if (!message->has_value()) {
      break;
    }
    handle(peer, **message);
  }
  if (!open && !peer.gone) {
    lose(peer, open.error().message);
  }
}

void ControlHub::handle(Peer& peer, const ControlMessage& message) {
  if (!peer.rank) {
    if (message.kind == ControlKind::kHello) {
      greet(peer, message);
    } else if (message.kind == ControlKind::kNoStart) {
      begin_no_more(peer, message);
    } else {
      refuse(peer, "the first message has to be a hello");
    }
    return;
  }
  switch (message.kind) {
    case ControlKind::kArrived:
      return note_arrival(message);
    case ControlKind::kGaveUp:
      return begin_report(message);
    case ControlKind::kAbort:
      return abort_all(message);
    case ControlKind::kActivity:
      return note_answer(message.rank, message.text);
    case ControlKind::kGoodbye:
      finished_.insert(*peer.rank);
      peer.gone = true;
      return note_answer(*peer.rank, "has finished");
    case ControlKind::kHello:
    case ControlKind::kWelcome:
    case ControlKind::kRefused:
    case ControlKind::kAsk:
    case ControlKind::kNoStart:
      return lose(peer, "it sent a message out of turn");
  }
}

void ControlHub::greet(Peer& peer, const ControlMessage& hello) {
  if (hello.text != options_.token) {
    return refuse(peer, "this is another run: the tokens (TORCHELASTIC_RUN_ID) differ");
  }
  if (hello.rank >= static_cast<std::uint32_t>(options_.world.ranks)) {
    return refuse(peer,
                  fmt::format("rank {} is none of the {} ranks of this run; WORLD_SIZE differs",
                              hello.rank,
                              options_.world.ranks));
  }
  if (!no_start_.empty()) {
    told_.insert(hello.rank);
    return refuse(peer, no_start_);
  }
  if (peer_of(hello.rank) != nullptr) {
    return refuse(peer,
                  fmt::format("another process is rank {} already; RANK must differ", hello.rank));
  }
  const std::string own = fingerprint(options_.world);
  if (hello.extra != own) {
    return refuse(
        peer,
        fmt::format(
            "rank {} has another plan ({}) than rank 0 ({})", hello.rank, hello.extra, own));
  }
  peer.rank = hello.rank;
  if (present() == static_cast<std::size_t>(options_.world.ranks)) {
    welcome_all();
  }
}

void ControlHub::welcome_all() {
  welcomed_ = true;
  for (const auto& peer : peers_) {
    if (peer->rank) {
      send(*peer, {.kind = ControlKind::kWelcome, .extra = options_.gift});
    }
  }
}

void ControlHub::give_up_joining() {
  aborted_ = true;
  const std::string why = fmt::format("only {} of {} ranks came within {}; missing: rank {}",
                                      present(),
                                      options_.world.ranks,
                                      to_string(options_.join_limit),
                                      ranks_text(false));
  for (const auto& peer : peers_) {
    refuse(*peer, why);
  }
}

/// A rank cannot begin: all that are here and all that come are told.
void ControlHub::begin_no_more(Peer& peer, const ControlMessage& message) {
  peer.gone = true;
  if (message.extra != options_.token || welcomed_) {
    return;
  }
  told_.insert(message.rank);
  if (no_start_.empty()) {
    no_start_ = message.text;
    aborted_ = true;
  }
  for (const auto& other : peers_) {
    if (other->rank && !other->gone) {
      told_.insert(*other->rank);
      refuse(*other, no_start_);
    }
  }
}

/// Whether nobody is left who would wait for a run that does not begin.
bool ControlHub::all_told() const {
  const std::size_t others = static_cast<std::size_t>(options_.world.ranks) - 1;
  return no_start_.empty() || told_.size() - told_.count(0) >= others;
}

void ControlHub::note_arrival(const ControlMessage& message) {
  for (const MeetingNumber& number : message.meetings) {
    if (number.place >= places_.size() || number.member >= places_[number.place].members.size()) {
      continue;
    }
    const WorldPlace& place = places_[number.place];
    const auto key = std::pair{number.place, number.sequence};
    const auto [found, is_first] = meetings_.try_emplace(key);
    Meeting& meeting = found->second;
    if (is_first) {
      meeting = {message.text,
                 number.member,
                 std::vector<bool>(place.members.size(), false),
                 place.members.size()};
    } else if (meeting.contract != message.text) {
      return abort_all({.kind = ControlKind::kAbort,
                        .text = fmt::format("the members of {} disagree on operation #{}: rank {} "
                                            "posted {}, rank {} posted {}",
                                            place.label,
                                            number.sequence + 1,
                                            place.members[meeting.first].value(),
                                            meeting.contract,
                                            place.members[number.member].value(),
                                            message.text)});
    }
    if (!meeting.arrived[number.member]) {
      meeting.arrived[number.member] = true;
      --meeting.missing;
    }
    if (meeting.missing == 0) {
      meetings_.erase(found);
    }
  }
}

std::vector<std::uint32_t> ControlHub::missing_ranks(const MeetingNumber& meeting) const {
  std::vector<std::uint32_t> ranks;
  const auto found = meetings_.find({meeting.place, meeting.sequence});
  if (found != meetings_.end()) {
    for (std::size_t member = 0; member < found->second.arrived.size(); ++member) {
      if (!found->second.arrived[member]) {
        ranks.push_back(static_cast<std::uint32_t>(places_[meeting.place].members[member].value()));
      }
    }
  }
  return ranks;
}

void ControlHub::begin_report(const ControlMessage& message) {
  if (report_ || aborted_) {
    return;  // the first counts
  }
  report_ = Report{message, {}, Clock::now() + kAnswerLimit};
  for (const MeetingNumber& meeting : message.meetings) {
    for (const std::uint32_t rank : missing_ranks(meeting)) {
      report_->answers.try_emplace(rank);
    }
  }
  bool asked = false;
  for (auto& [rank, answer] : report_->answers) {
    if (Peer* const peer = peer_of(rank)) {
      asked = true;
      send(*peer, {.kind = ControlKind::kAsk});
    } else {
      answer = finished_.contains(rank) ? "has finished" : "is gone";
    }
  }
  if (!asked) {
    end_report();
  }
}

void ControlHub::note_answer(std::uint32_t rank, const std::string& answer) {
  if (!report_ || !report_->answers.contains(rank)) {
    return;
  }
  report_->answers[rank] = answer;
  const auto open = [](const auto& asked) { return asked.second.empty(); };
  if (std::none_of(report_->answers.begin(), report_->answers.end(), open)) {
    end_report();
  }
}

void ControlHub::end_report() {
  const Report report = *std::move(report_);
  report_.reset();
  std::string absent;
  for (const MeetingNumber& meeting : report.given_up.meetings) {
    for (const std::uint32_t rank : missing_ranks(meeting)) {
      const std::string& answer = report.answers.at(rank);
      absent += fmt::format("{}rank {} ({})",
                            absent.empty() ? "not arrived: " : ", ",
                            rank,
                            answer.empty() ? "does not answer" : answer);
    }
  }
  if (absent.empty()) {
    absent = report.given_up.extra;
  }
  abort_all({.kind = ControlKind::kAbort, .text = report.given_up.text + ": " + absent});
}

void ControlHub::lose(Peer& peer, const std::string& why) {
  peer.gone = true;
  if (!peer.rank || !welcomed_) {
    peer.rank.reset();
    return;  // a stranger, or somebody who may come again
  }
  const std::uint32_t rank = *peer.rank;
  abort_all({.kind = ControlKind::kAbort,
             .text = fmt::format("rank {} is gone without a word: its process has ended or its "
                                 "host cannot be reached ({})",
                                 rank,
                                 why)});
}

void ControlHub::abort_all(const ControlMessage& reason) {
  if (aborted_) {
    return;
  }
  aborted_ = true;
  report_.reset();
  for (const auto& peer : peers_) {
    if (peer->rank && !peer->gone) {
      send(*peer, reason);
    }
  }
}

void ControlHub::send(Peer& peer, const ControlMessage& message) {
  if (!peer.socket.send_all(encode(message), Clock::now() + kSendLimit)) {
    peer.gone = true;
  }
}

void ControlHub::refuse(Peer& peer, const std::string& why) {
  send(peer, {.kind = ControlKind::kRefused, .text = why});
  peer.gone = true;
  peer.rank.reset();
}

ControlHub::Peer* ControlHub::peer_of(std::uint32_t rank) {
  const auto found = std::find_if(peers_.begin(), peers_.end(), [rank](const auto& peer) {
    return peer->rank == rank && !peer->gone;
  });
  return found == peers_.end() ? nullptr : found->get();
}

std::size_t ControlHub::present() const {
  return static_cast<std::size_t>(std::count_if(peers_.begin(), peers_.end(), [](const auto& peer) {
    return peer->rank.has_value() && !peer->gone;
  }));
}

std::string ControlHub::ranks_text(bool present) const {
  std::string text;
  for (int rank = 0; rank < options_.world.ranks; ++rank) {
    const bool here = std::any_of(peers_.begin(), peers_.end(), [rank](const auto& peer) {
      return peer->rank == static_cast<std::uint32_t>(rank);
    });
    if (here == present) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", rank);
    }
  }
  return text;
}

}  // namespace stagewright
