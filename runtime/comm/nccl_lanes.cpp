#include "runtime/comm/nccl_lanes.h"

#include <algorithm>
#include <thread>

namespace stagewright {

namespace {

/// Scratch of one lane; more than an element, so that two lanes share no cache line of the device.
constexpr std::size_t kScratch = 256;
/// Between two looks at a device that still works.
constexpr auto kLook = std::chrono::microseconds(50);

[[nodiscard]] ncclConfig_t configuration() {
  // splitShare stays off: communicators that share their resources are put one behind the other on
  // the device, and a channel would hold up another.
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  return config;
}

}  // namespace

std::unique_ptr<NcclLanes> NcclLanes::make(Setup setup) {
  std::unique_ptr<NcclLanes> made(new NcclLanes(std::move(setup)));
  const CudaLibrary& cuda = *made->setup_.cuda;
  cuda.check(cuda.cudaSetDevice(made->setup_.device), "cudaSetDevice");
  made->add_lanes();
  made->connect_world();
  for (const std::vector<std::size_t>& round : disjoint_rounds(made->setup_.places)) {
    made->split(round);
  }
  for (const auto& lane : made->lanes_) {
    if (lane != nullptr && !lane->alone()) {
      made->prime(*lane);
    }
  }
  return made;
}

void NcclLanes::add_lanes() {
  const CudaLibrary& cuda = *setup_.cuda;
  lanes_.resize(setup_.places.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const WorldPlace& place = setup_.places[i];
    const auto own = std::find(place.members.begin(), place.members.end(), setup_.rank);
    if (own == place.members.end()) {
      continue;
    }
    ++count;
    lanes_[i] = std::make_unique<NcclLane>();
    NcclLane& lane = *lanes_[i];
    lane.place = static_cast<std::uint32_t>(i);
    lane.label = place.label;
    lane.members = place.members;
    lane.member = static_cast<std::uint32_t>(own - place.members.begin());
    cuda.check(cuda.cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking),
               "cudaStreamCreate");
    cuda.check(cuda.cudaEventCreateWithFlags(&lane.ended, cudaEventDisableTiming),
               "cudaEventCreate");
  }
  cuda.check(cuda.cudaMalloc(&scratch_, count * kScratch), "cudaMalloc");
  auto* next = static_cast<std::byte*>(scratch_);
  for (const auto& lane : lanes_) {
    if (lane != nullptr) {
      lane->scratch = next;
      next += kScratch;
    }
  }
}

void NcclLanes::connect_world() {
  NcclLane& world = *lanes_.front();
  if (world.members.size() < 2) {
    return;
  }
  ncclConfig_t config = configuration();
  const NcclLibrary& nccl = *setup_.nccl;
  nccl.check(nccl.ncclCommInitRankConfig(&world.communicator,
                                         static_cast<int>(world.members.size()),
                                         setup_.id,
                                         setup_.rank.value(),
                                         &config),
             "ncclCommInitRank",
             nullptr);
}

void NcclLanes::split(const std::vector<std::size_t>& round) {
  const auto own = std::find_if(
      round.begin(), round.end(), [this](std::size_t place) { return lanes_[place] != nullptr; });
  if (round.front() == 0) {
    return;  // the world is there
  }
  NcclLane* const lane = own == round.end() ? nullptr : lanes_[*own].get();
  ncclConfig_t config = configuration();
  ncclComm_t made = nullptr;
  const NcclLibrary& nccl = *setup_.nccl;
  const ncclComm_t world = lanes_.front()->communicator;
  nccl.check(
      nccl.ncclCommSplit(world,
                         lane == nullptr ? NCCL_SPLIT_NOCOLOR : static_cast<int>(lane->place),
                         lane == nullptr ? 0 : static_cast<int>(lane->member),
                         &made,
                         &config),
      "ncclCommSplit",
      world);
  if (lane != nullptr) {
    lane->communicator = made;
  }
}

void NcclLanes::prime(NcclLane& lane) {
  const CudaLibrary& cuda = *setup_.cuda;
  cuda.check(cuda.cudaMemsetAsync(lane.scratch, 0, kScratch, lane.stream), "cudaMemset");
  NcclPart first;
  first.lane = &lane;
  first.member = lane.member;
  // Links come last, as they do in places_of; a message opens the way that messages take.
  const bool link = lane.label.starts_with("from rank");
  first.contract.kind = link ? CommKind::kTransfer : CommKind::kBarrier;
  call_nccl(*setup_.nccl, first);
  while (true) {
    const cudaError_t state = cuda.cudaStreamQuery(lane.stream);
    if (state == cudaSuccess) {
      return;
    }
    if (state != cudaErrorNotReady) {
      cuda.check(state, "the first operation of " + lane.label);
    }
    ncclResult_t error = ncclSuccess;
    (void)setup_.nccl->ncclCommGetAsyncError(lane.communicator, &error);
    setup_.nccl->check(error, "the first operation of " + lane.label, lane.communicator);
    std::this_thread::sleep_for(kLook);
  }
}

void NcclLanes::abort() {
  aborted_ = true;
  for (const auto& lane : lanes_) {
    if (lane != nullptr && !lane->alone()) {
      (void)setup_.nccl->ncclCommAbort(lane->communicator);
    }
  }
}

bool NcclLanes::drain(std::chrono::steady_clock::time_point deadline) {
  for (const auto& lane : lanes_) {
    while (lane != nullptr && setup_.cuda->cudaStreamQuery(lane->stream) == cudaErrorNotReady) {
      if (std::chrono::steady_clock::now() >= deadline) {
        return false;
      }
      std::this_thread::sleep_for(kLook);
    }
  }
  return true;
}

NcclLanes::~NcclLanes() {
  const CudaLibrary& cuda = *setup_.cuda;
  for (auto lane = lanes_.rbegin(); lane != lanes_.rend(); ++lane) {
    if (*lane == nullptr) {
      continue;
    }
    if (!(*lane)->alone() && !aborted_) {
      (void)setup_.nccl->ncclCommDestroy((*lane)->communicator);
    }
    if ((*lane)->stream != nullptr) {
      (void)cuda.cudaStreamDestroy((*lane)->stream);
    }
    if ((*lane)->ended != nullptr) {
      (void)cuda.cudaEventDestroy((*lane)->ended);
    }
  }
  (void)cuda.cudaFree(scratch_);
}

}  // namespace stagewright
