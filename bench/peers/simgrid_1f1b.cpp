/// 1F1B simulated by SimGrid (S4U): an actor per rank that computes, receives and sends.
/// Usage: simgrid_1f1b RANKS CHUNKS

#include <cstdlib>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

#include "one_f_one_b_case.h"

namespace sg4 = simgrid::s4u;

namespace {

// Speeds of 10^12 a second, so that a flop and a byte take a picosecond.
constexpr double kPerSecond = 1e12;

std::string name_of(const char* what, std::int32_t rank) {
  return what + std::to_string(rank);
}

/// Hosts between which every message takes the sender's port out and the receiver's port in.
void build_platform(std::int32_t ranks) {
  auto* zone = sg4::create_full_zone("cluster");
  std::vector<sg4::Host*> hosts;
  std::vector<sg4::Link*> out;
  std::vector<sg4::Link*> in;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    hosts.push_back(zone->create_host(name_of("rank", rank), kPerSecond)->seal());
    out.push_back(zone->create_link(name_of("out", rank), kPerSecond)->set_latency(0)->seal());
    in.push_back(zone->create_link(name_of("in", rank), kPerSecond)->set_latency(0)->seal());
  }
  const auto connect = [&](std::size_t from, std::size_t to) {
    zone->add_route(hosts[from]->get_netpoint(),
                    hosts[to]->get_netpoint(),
                    nullptr,
                    nullptr,
                    {sg4::LinkInRoute(out[from]), sg4::LinkInRoute(in[to])},
                    false);
  };
  for (std::size_t rank = 0; rank + 1 < hosts.size(); ++rank) {
    connect(rank, rank + 1);
    connect(rank + 1, rank);
  }
  zone->seal();
}

class Rank {
 public:
  Rank(std::int32_t ranks, std::int32_t micro_batches, std::int32_t rank)
      : ranks_(ranks), micro_batches_(micro_batches), rank_(rank) {}

  void operator()() const {
    // Messages begin when they are sent, whether or not somebody waits for them already.
    mailbox("forward", rank_)->set_receiver(sg4::Actor::self());
    mailbox("backward", rank_)->set_receiver(sg4::Actor::self());
    one_f_one_b::walk(
        ranks_,
        micro_batches_,
        rank_,
        [this](std::int32_t m) { run("forward", m, rank_ - 1, rank_ + 1, false); },
        [this](std::int32_t m) { run("backward", m, rank_ + 1, rank_ - 1, true); });
  }

 private:
  [[nodiscard]] static sg4::Mailbox* mailbox(const char* kind, std::int32_t rank) {
    return sg4::Mailbox::by_name(name_of(kind, rank));
  }

  [[nodiscard]] bool exists(std::int32_t rank) const { return rank >= 0 && rank < ranks_; }

  void run(const char* kind,
           std::int32_t micro_batch,
           std::int32_t from,
           std::int32_t to,
           bool backward) const {
    if (exists(from)) {
      (void)mailbox(kind, rank_)->get<char>();
    }
    sg4::this_actor::execute(
        static_cast<double>(one_f_one_b::duration(rank_, micro_batch, backward)));
    if (exists(to)) {
      static char payload = 0;
      mailbox(kind, to)
          ->put_init(&payload, static_cast<std::uint64_t>(one_f_one_b::kTransfer))
          ->detach();
    }
  }

  std::int32_t ranks_;
  std::int32_t micro_batches_;
  std::int32_t rank_;
};

}  // namespace

int main(int argc, char** argv) {
  sg4::Engine engine(&argc, argv);
  if (argc != 3) {
    std::fprintf(stderr, "usage: simgrid_1f1b RANKS CHUNKS\n");
    return EXIT_FAILURE;
  }
  const std::int32_t ranks = std::atoi(argv[1]);
  const std::int32_t micro_batches = std::atoi(argv[2]);
  // Plain max-min sharing, without the corrections for TCP that are on by default.
  engine.set_config("network/model:CM02");
  engine.set_config("network/latency-factor:1");
  engine.set_config("network/bandwidth-factor:1");
  engine.set_config("network/weight-S:0");
  engine.set_config("network/TCP-gamma:0");
  engine.set_config("network/crosstraffic:0");
  engine.set_config("surf/precision:1e-12");
  build_platform(ranks);
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    sg4::Actor::create(name_of("rank", rank),
                       engine.host_by_name(name_of("rank", rank)),
                       Rank(ranks, micro_batches, rank));
  }
  const one_f_one_b::Stopwatch watch;
  engine.run();
  one_f_one_b::report("simgrid", ranks, micro_batches, sg4::Engine::get_clock(), watch.seconds());
  return EXIT_SUCCESS;
}
