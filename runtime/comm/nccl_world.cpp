#include "runtime/comm/nccl_world.h"

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/check.h"
#include "runtime/backend_error.h"
#include "runtime/comm/control_hub.h"
#include "runtime/comm/failed_start.h"
#include "runtime/comm/nccl_communicator.h"
#include "runtime/comm/nccl_rank.h"
#include "runtime/comm/world_places.h"

namespace stagewright {

namespace {

/// For the other ranks to come and hear that this one cannot begin.
constexpr auto kNoStartLimit = std::chrono::seconds(10);

struct Libraries {
  std::shared_ptr<const CudaLibrary> cuda;
  std::shared_ptr<const NcclLibrary> nccl;
};

[[nodiscard]] Result<Libraries> load(const NcclOptions& options) {
  Result<std::shared_ptr<const CudaLibrary>> cuda = load_cuda(options.cuda_library);
  if (!cuda) {
    return pass_on(std::move(cuda));
  }
  Result<std::shared_ptr<const NcclLibrary>> nccl = load_nccl(options.nccl_library);
  if (!nccl) {
    return pass_on(std::move(nccl));
  }
  const Result<int> devices = count_devices(**cuda);
  if (!devices) {
    return tl::unexpected<Error>(devices.error());
  }
  if (options.launch.local_rank >= *devices) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("LOCAL_RANK {} needs a device of its own, and this machine has {}; "
                            "start at most one process per device",
                            options.launch.local_rank,
                            *devices));
  }
  return Libraries{*std::move(cuda), *std::move(nccl)};
}

/// The communicators being made by a thread that may never return: NCCL has no limit of its own.
class Making {
 public:
  static std::shared_ptr<Making> start(NcclLanes::Setup setup) {
    auto made = std::make_shared<Making>();
    std::thread([made, setup = std::move(setup)]() mutable {
      Result<std::unique_ptr<NcclLanes>> result = make(std::move(setup));
      const std::lock_guard lock(made->mutex_);
      made->result_.emplace(std::move(result));
      made->changed_.notify_all();
    }).detach();
    return made;
  }

  /// Nothing if it is not done within `limit`.
  [[nodiscard]] std::optional<Result<std::unique_ptr<NcclLanes>>> await(
      std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [this] { return result_.has_value(); });
    return std::exchange(result_, std::nullopt);
  }

 private:
  [[nodiscard]] static Result<std::unique_ptr<NcclLanes>> make(NcclLanes::Setup setup) {
    try {
      return NcclLanes::make(std::move(setup));
    } catch (const BackendError& error) {
      return tl::unexpected<Error>(error.error());
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Result<std::unique_ptr<NcclLanes>>> result_;
};

class NcclEndpoint final : public Endpoint {
 public:
  NcclEndpoint(std::shared_ptr<NcclRank> rank, const WorldSpec& spec) : rank_(std::move(rank)) {
    NcclLanes& lanes = rank_->lanes();
    world_ = std::make_unique<NcclCommunicator>(*rank_, links_, *lanes.at(0), "world");
    for (std::size_t i = 0; i < spec.groups.size(); ++i) {
      NcclLane* const lane = lanes.at(1 + i);
      groups_.push_back(lane == nullptr ? nullptr
                                        : std::make_unique<NcclCommunicator>(
                                              *rank_, links_, *lane, spec.groups[i].label));
    }
    for (std::size_t i = 0; i < spec.links.size(); ++i) {
      const CommLink& link = spec.links[i];
      NcclLane* const lane = lanes.at(1 + spec.groups.size() + i);
      if (link.source == rank_->id()) {
        links_.out[{link.destination, link.channel}] = lane;
      }
      if (link.destination == rank_->id()) {
        links_.in[{link.source, link.channel}] = lane;
      }
    }
  }

  [[nodiscard]] RankId rank() const override { return rank_->id(); }
  [[nodiscard]] Communicator& world() override { return *world_; }
  [[nodiscard]] Communicator* group(GroupId group) override {
    SW_CHECK(group.value() >= 0 && group.index() < groups_.size(),
             "a group of the WorldSpec is asked for");
    return groups_[group.index()].get();
  }
  [[nodiscard]] std::unique_ptr<Stream> make_stream(std::string label) override {
    return std::make_unique<NcclStreamHandle>(rank_, std::move(label));
  }
  [[nodiscard]] std::unique_ptr<EventSource> make_event(std::string label) override {
    return make_nccl_host_event(rank_, std::move(label));
  }
  [[nodiscard]] const RunClock& clock() const override { return rank_->clock(); }
  void abort(Error reason) override { rank_->abort(std::move(reason)); }

 private:
  std::shared_ptr<NcclRank> rank_;
  NcclLinks links_;
  std::unique_ptr<NcclCommunicator> world_;
  std::vector<std::unique_ptr<NcclCommunicator>> groups_;
};

class NcclWorld final : public World {
 public:
  NcclWorld(const WorldSpec& spec, std::unique_ptr<ControlHub> hub, std::shared_ptr<NcclRank> rank)
      : hub_(std::move(hub)), rank_(std::move(rank)), endpoint_(rank_, spec) {}
  NcclWorld(const NcclWorld&) = delete;
  NcclWorld& operator=(const NcclWorld&) = delete;
  ~NcclWorld() override { rank_->close(); }

  [[nodiscard]] std::span<Endpoint* const> endpoints() override { return endpoints_; }
  [[nodiscard]] std::optional<Error> failure() const override { return rank_->failure(); }

 private:
  std::unique_ptr<ControlHub> hub_;  // goes last: it waits for the others
  std::shared_ptr<NcclRank> rank_;
  NcclEndpoint endpoint_;
  std::vector<Endpoint*> endpoints_ = {&endpoint_};
};

/// Of rank 0; null on the others.
[[nodiscard]] Result<std::unique_ptr<ControlHub>> start_hub(const WorldSpec& spec,
                                                            const NcclOptions& options,
                                                            const NcclLibrary& nccl) {
  if (options.launch.rank != 0) {
    return nullptr;
  }
  ncclUniqueId id{};
  try {
    nccl.check(nccl.ncclGetUniqueId(&id), "ncclGetUniqueId", nullptr);
  } catch (const BackendError& error) {
    return tl::unexpected<Error>(error.error());
  }
  return ControlHub::start({.world = spec,
                            .token = options.launch.token,
                            .gift = std::string(id.internal, sizeof id.internal),
                            .join_limit = options.start_limit,
                            .goodbye_limit = options.timeout},
                           options.launch.port);
}

/// Makes the communicators; the reason why not.
[[nodiscard]] std::optional<Error> connect(NcclRank& rank, NcclLanes::Setup setup, Duration limit) {
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::duration_cast<std::chrono::steady_clock::duration>(limit);
  const std::shared_ptr<Making> making = Making::start(std::move(setup));
  while (true) {
    if (auto made = making->await(std::chrono::milliseconds(10))) {
      if (*made) {
        rank.use(**std::move(made));
        return std::nullopt;
      }
      rank.abort(Error{made->error().code,
                       fmt::format("rank {}: {}", rank.id().value(), made->error().message),
                       made->error().where});
    } else if (std::chrono::steady_clock::now() >= deadline) {
      rank.abort(Error{ErrorCode::kBackendFailed,
                       fmt::format("rank {}: NCCL did not make its communicators within {}; see "
                                   "NCCL_DEBUG=INFO",
                                   rank.id().value(),
                                   to_string(limit)),
                       {}});
    }
    if (const std::optional<Error> failed = rank.failure()) {
      return failed;
    }
  }
}

}  // namespace

Result<std::unique_ptr<World>> make_nccl_world(const WorldSpec& spec, const NcclOptions& options) {
  if (Result<void> valid = validate(spec); !valid) {
    return pass_on(std::move(valid));
  }
  if (options.launch.ranks != spec.ranks) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("the plan has {} ranks, {} processes were started (WORLD_SIZE)",
                            spec.ranks,
                            options.launch.ranks));
  }
  Result<Libraries> libraries = load(options);
  if (!libraries) {
    tell_failed_start(options.launch, libraries.error(), kNoStartLimit);
    return pass_on(std::move(libraries));
  }
  Result<std::unique_ptr<ControlHub>> hub = start_hub(spec, options, *libraries->nccl);
  if (!hub) {
    tell_failed_start(options.launch, hub.error(), kNoStartLimit);
    return pass_on(std::move(hub));
  }
  Result<std::unique_ptr<ControlLink>> link =
      ControlLink::join(options.launch, fingerprint(spec), options.start_limit);
  if (!link) {
    return pass_on(std::move(link));
  }
  NcclLanes::Setup setup{.cuda = libraries->cuda,
                         .nccl = libraries->nccl,
                         .places = places_of(spec),
                         .rank = RankId(options.launch.rank),
                         .device = options.launch.local_rank};
  SW_CHECK((*link)->gift().size() == sizeof setup.id.internal, "rank 0 gives an id of NCCL");
  std::memcpy(setup.id.internal, (*link)->gift().data(), sizeof setup.id.internal);
  try {
    auto rank = std::make_shared<NcclRank>(NcclRank::Setup{.cuda = libraries->cuda,
                                                           .id = setup.rank,
                                                           .device = setup.device,
                                                           .timeout = options.timeout,
                                                           .nccl = libraries->nccl});
    rank->listen(*std::move(link));
    if (std::optional<Error> failed = connect(*rank, std::move(setup), options.start_limit)) {
      rank->close();
      return tl::unexpected<Error>(*std::move(failed));
    }
    return std::make_unique<NcclWorld>(spec, *std::move(hub), std::move(rank));
  } catch (const BackendError& error) {
    return tl::unexpected<Error>(error.error());
  }
}

}  // namespace stagewright
