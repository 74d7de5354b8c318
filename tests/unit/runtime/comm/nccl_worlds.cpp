#include "nccl_worlds.h"

#include <thread>
#include <utility>
#include <vector>

#include "free_port.h"
#include "standin_library.h"

namespace stagewright {

namespace {

class NcclWorlds final : public World {
 public:
  explicit NcclWorlds(std::vector<std::unique_ptr<World>> worlds) : worlds_(std::move(worlds)) {
    for (const auto& world : worlds_) {
      endpoints_.push_back(world->endpoints().front());
    }
  }
  NcclWorlds(const NcclWorlds&) = delete;
  NcclWorlds& operator=(const NcclWorlds&) = delete;
  /// Rank 0 last: it waits for the others.
  ~NcclWorlds() override {
    while (!worlds_.empty()) {
      worlds_.pop_back();
    }
  }

  [[nodiscard]] std::span<Endpoint* const> endpoints() override { return endpoints_; }
  [[nodiscard]] std::optional<Error> failure() const override { return worlds_[0]->failure(); }

 private:
  std::vector<std::unique_ptr<World>> worlds_;
  std::vector<Endpoint*> endpoints_;
};

}  // namespace

Result<std::unique_ptr<World>> make_nccl_worlds(const WorldSpec& spec, const NcclOptions& options) {
  const std::uint16_t port = free_port();
  const auto ranks = static_cast<std::size_t>(spec.ranks);
  std::vector<Result<std::unique_ptr<World>>> made(ranks);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      NcclOptions own = options;
      own.cuda_library = standin_cuda_file();
      own.nccl_library = standin_nccl_file();
      own.launch = {.rank = static_cast<int>(rank),
                    .ranks = spec.ranks,
                    .local_rank = static_cast<int>(rank),
                    .host = "127.0.0.1",
                    .port = port,
                    .token = "conformance"};
      made[rank] = make_nccl_world(spec, own);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::vector<std::unique_ptr<World>> worlds;
  for (auto& world : made) {
    if (!world) {
      return tl::unexpected<Error>(world.error());
    }
    worlds.push_back(*std::move(world));
  }
  return std::make_unique<NcclWorlds>(std::move(worlds));
}

}  // namespace stagewright
