// How ranks find each other, and what they hear when one is missing, differs or goes away.

#include "runtime/comm/control_hub.h"

#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "runtime/comm/control_link.h"
#include "runtime/comm/failed_start.h"

namespace stagewright {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr Duration kLong = std::chrono::seconds(60);
constexpr Duration kShort = std::chrono::milliseconds(300);

[[nodiscard]] WorldSpec world_of(int ranks) {
  WorldSpec spec;
  spec.ranks = ranks;
  return spec;
}

[[nodiscard]] std::unique_ptr<ControlHub> hub_of(int ranks, Duration join_limit) {
  return ControlHub::start({.world = world_of(ranks),
                            .token = "run 1",
                            .gift = "the id",
                            .join_limit = join_limit,
                            .goodbye_limit = kShort},
                           0)
      .value();
}

using Joined = Result<std::unique_ptr<ControlLink>>;

struct Visitor {
  int rank = 0;
  std::string token = "run 1";
  int ranks = 2;  ///< as it knows them
};

[[nodiscard]] std::future<Joined> join(const ControlHub& hub, const Visitor& visitor) {
  return std::async(std::launch::async, [port = hub.port(), visitor] {
    return ControlLink::join({.rank = visitor.rank,
                              .ranks = visitor.ranks,
                              .host = "127.0.0.1",
                              .port = port,
                              .token = visitor.token},
                             fingerprint(world_of(visitor.ranks)),
                             kLong);
  });
}

[[nodiscard]] std::string problem(std::future<Joined> joined) {
  const Joined link = joined.get();
  return link ? "" : link.error().to_string();
}

/// Whichever of two ends first; both end within kLong.
[[nodiscard]] std::future<Joined>& first_to_end(std::future<Joined>& one,
                                                std::future<Joined>& other) {
  constexpr auto kTurn = std::chrono::milliseconds(5);
  std::future<Joined>* looked_at = &one;
  while (looked_at->wait_for(kTurn) != std::future_status::ready) {
    looked_at = looked_at == &one ? &other : &one;
  }
  return *looked_at;
}

/// Why the run ended, as this rank hears it.
class Listener {
 public:
  explicit Listener(std::unique_ptr<ControlLink> link) : link_(std::move(link)) {
    link_->listen({.aborted = [this](const Error& reason) { ended_.set_value(reason.message); },
                   .activity = [] { return std::string("is computing"); },
                   .tick = [] {}});
  }
  [[nodiscard]] ControlLink& link() { return *link_; }
  [[nodiscard]] std::string reason() { return ended_.get_future().get(); }

 private:
  std::promise<std::string> ended_;
  std::unique_ptr<ControlLink> link_;
};

TEST(ControlHub, WelcomesAllRanksWithItsGiftWhenTheLastHasCome) {
  const auto hub = hub_of(2, kLong);
  std::future<Joined> first = join(*hub, {.rank = 1});
  EXPECT_EQ(first.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  std::future<Joined> second = join(*hub, {.rank = 0});
  const Joined links[] = {first.get(), second.get()};
  for (const Joined& link : links) {
    ASSERT_TRUE(link.has_value()) << link.error().to_string();
    EXPECT_EQ((*link)->gift(), "the id");
  }
}

TEST(ControlHub, SaysWhoIsMissingWhenTheTimeIsOver) {
  const auto hub = hub_of(4, kShort);
  std::future<Joined> zero = join(*hub, {.rank = 0, .ranks = 4});
  std::future<Joined> two = join(*hub, {.rank = 2, .ranks = 4});
  const char* const why = "only 2 of 4 ranks came within 300 ms; missing: rank 1, 3";
  EXPECT_THAT(problem(std::move(zero)), HasSubstr(why));
  EXPECT_THAT(problem(std::move(two)), HasSubstr(why));
}

TEST(ControlHub, RefusesOtherRunsOtherPlansAndASecondProcessOfARank) {
  const auto hub = hub_of(2, kLong);
  EXPECT_THAT(problem(join(*hub, {.rank = 1, .token = "run 2"})), HasSubstr("this is another run"));
  EXPECT_THAT(problem(join(*hub, {.rank = 1, .ranks = 3})), HasSubstr("rank 1 has another plan"));
  EXPECT_THAT(problem(join(*hub, {.rank = 2})), HasSubstr("rank 2 is none of the 2 ranks"));
  std::future<Joined> first = join(*hub, {.rank = 1});
  std::future<Joined> again = join(*hub, {.rank = 1});
  EXPECT_THAT(problem(std::move(first_to_end(first, again))),
              HasSubstr("another process is rank 1 already"));
  EXPECT_EQ(problem(join(*hub, {.rank = 0})), "");
}

TEST(ControlHub, DoesNotMindStrangers) {
  const auto hub = hub_of(1, kLong);
  const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  Result<TcpSocket> stranger = TcpSocket::connect("127.0.0.1", hub->port(), soon);
  ASSERT_TRUE(stranger.has_value());
  ASSERT_TRUE(stranger->send_all("GET / HTTP/1.1\r\nHost: node7\r\n\r\n", soon).has_value());
  EXPECT_EQ(problem(join(*hub, {.rank = 0, .ranks = 1})), "");
}

struct Pair {
  std::unique_ptr<ControlHub> hub = hub_of(2, kLong);
  std::unique_ptr<Listener> zero;
  std::unique_ptr<Listener> one;

  Pair() {
    std::future<Joined> first = join(*hub, {.rank = 0});
    std::future<Joined> second = join(*hub, {.rank = 1});
    zero = std::make_unique<Listener>(first.get().value());
    one = std::make_unique<Listener>(second.get().value());
  }
};

TEST(ControlHub, TellsAllRanksTheFirstReasonOfAny) {
  Pair ranks;
  ranks.one->link().send({.kind = ControlKind::kAbort, .text = "rank 1: out of memory"});
  EXPECT_EQ(ranks.zero->reason(), "rank 1: out of memory");
  EXPECT_EQ(ranks.one->reason(), "rank 1: out of memory");
}

TEST(ControlHub, ComparesWhatMembersBegin) {
  Pair ranks;
  ranks.zero->link().send(
      {.kind = ControlKind::kArrived, .meetings = {{0, 0, 4}}, .text = "barrier"});
  ranks.one->link().send(
      {.kind = ControlKind::kArrived, .meetings = {{0, 1, 4}}, .text = "broadcast"});
  EXPECT_THAT(ranks.one->reason(),
              AllOf(HasSubstr("the members of the world disagree on operation #5"),
                    HasSubstr("rank 0 posted barrier"),
                    HasSubstr("rank 1 posted broadcast")));
}

TEST(ControlHub, AsksThoseWhoAreMissingWhatTheyDo) {
  Pair ranks;
  ranks.zero->link().send(
      {.kind = ControlKind::kArrived, .meetings = {{0, 0, 0}}, .text = "barrier"});
  ranks.zero->link().send({.kind = ControlKind::kGaveUp,
                           .meetings = {{0, 0, 0}},
                           .text = "rank 0 waited 1 s for a barrier"});
  EXPECT_EQ(ranks.zero->reason(),
            "rank 0 waited 1 s for a barrier: not arrived: rank 1 (is computing)");
}

// As when a process is killed: the connection ends without a goodbye.
TEST(ControlHub, EndsTheRunWhenARankGoesWithoutAWord) {
  const auto hub = hub_of(2, kLong);
  std::future<Joined> staying = join(*hub, {.rank = 0});
  std::future<Joined> leaving = join(*hub, {.rank = 1});
  Listener zero(staying.get().value());
  leaving.get().value().reset();  // it never listened, so it says no goodbye
  EXPECT_THAT(zero.reason(), HasSubstr("rank 1 is gone without a word"));
}

TEST(ControlHub, LetsARankGoThatSaysGoodbye) {
  Pair ranks;
  ranks.one.reset();
  ranks.zero->link().send(
      {.kind = ControlKind::kArrived, .meetings = {{0, 0, 0}}, .text = "barrier"});
  ranks.zero->link().send(
      {.kind = ControlKind::kGaveUp, .meetings = {{0, 0, 0}}, .text = "rank 0 waited"});
  EXPECT_EQ(ranks.zero->reason(), "rank 0 waited: not arrived: rank 1 (has finished)");
}

// One that cannot begin says so; whoever is there, and whoever comes later, hears it at once.
TEST(ControlHub, ARankThatCannotBeginEndsTheStartOfAll) {
  const auto begin = std::chrono::steady_clock::now();
  auto hub = hub_of(3, kLong);
  auto first = join(*hub, {.rank = 0, .ranks = 3});
  tell_failed_start(
      {.rank = 1, .ranks = 3, .host = "127.0.0.1", .port = hub->port(), .token = "run 1"},
      {ErrorCode::kUnsupported, "no CUDA device", {}},
      kLong);
  EXPECT_THAT(problem(std::move(first)),
              HasSubstr("refused by rank 0: rank 1 cannot begin: no CUDA device"));
  auto late = join(*hub, {.rank = 2, .ranks = 3});
  EXPECT_THAT(problem(std::move(late)), HasSubstr("rank 1 cannot begin: no CUDA device"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(ControlHub, RankZeroWaitsToTellThatItCannotBegin) {
  const auto port = ReservedPort::reserve().value();
  const LaunchEnvironment zero{
      .rank = 0, .ranks = 2, .host = "127.0.0.1", .port = port.port(), .token = "run 1"};
  auto other = std::async(std::launch::async, [&zero] {
    LaunchEnvironment one = zero;
    one.rank = 1;
    const auto link = ControlLink::join(one, fingerprint(world_of(2)), kLong);
    return link ? std::string() : link.error().to_string();
  });
  tell_failed_start(zero, {ErrorCode::kNotFound, "no such plan", {}}, kLong);
  EXPECT_THAT(other.get(), HasSubstr("rank 0 cannot begin: no such plan"));
}

TEST(ControlHub, AStrangerEndsNoStart) {
  auto hub = hub_of(2, kLong);
  auto first = join(*hub, {.rank = 0});
  tell_failed_start(
      {.rank = 1, .ranks = 2, .host = "127.0.0.1", .port = hub->port(), .token = "run 2"},
      {ErrorCode::kUnsupported, "no CUDA device", {}},
      kLong);
  auto second = join(*hub, {.rank = 1});
  EXPECT_EQ(problem(std::move(first)), "");
  EXPECT_EQ(problem(std::move(second)), "");
}

}  // namespace
}  // namespace stagewright
