#include "runtime/comm/in_process.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/check.h"
#include "runtime/comm/host_run.h"
#include "runtime/comm/host_stream.h"
#include "runtime/comm/in_process_communicator.h"

namespace stagewright {

namespace {

class InProcessEndpoint final : public Endpoint {
 public:
  InProcessEndpoint(HostProgress& progress, std::size_t groups)
      : progress_(progress), groups_(groups) {}

  [[nodiscard]] RankId rank() const override { return progress_.rank(); }
  [[nodiscard]] Communicator& world() override { return *world_; }
  [[nodiscard]] Communicator* group(GroupId group) override {
    SW_CHECK(group.value() >= 0 && group.index() < groups_.size(),
             "a group of the WorldSpec is asked for");
    return groups_[group.index()].get();
  }
  [[nodiscard]] std::unique_ptr<Stream> make_stream(std::string label) override {
    return std::make_unique<HostStream>(progress_, std::move(label));
  }
  [[nodiscard]] std::unique_ptr<EventSource> make_event(std::string label) override {
    return make_host_event(progress_, std::move(label));
  }
  [[nodiscard]] const RunClock& clock() const override { return progress_.run().clock(); }
  void abort(Error reason) override { progress_.run().abort(std::move(reason)); }

  [[nodiscard]] LinkTable& links() { return links_; }
  void join_world(MeetingPlace& place, std::size_t member) {
    world_ = std::make_unique<InProcessCommunicator>(progress_, links_, place, member, "world");
  }
  void join_group(std::size_t group,
                  MeetingPlace& place,
                  std::size_t member,
                  const std::string& label) {
    groups_[group] =
        std::make_unique<InProcessCommunicator>(progress_, links_, place, member, label);
  }

 private:
  HostProgress& progress_;
  LinkTable links_;
  std::unique_ptr<InProcessCommunicator> world_;
  std::vector<std::unique_ptr<InProcessCommunicator>> groups_;
};

class InProcessWorld final : public World {
 public:
  InProcessWorld(const WorldSpec& spec, const HostRunOptions& options) : run_(spec.ranks, options) {
    for (int rank = 0; rank < spec.ranks; ++rank) {
      owned_.push_back(
          std::make_unique<InProcessEndpoint>(run_.progress(RankId(rank)), spec.groups.size()));
      endpoints_.push_back(owned_.back().get());
    }
    add_world();
    for (std::size_t group = 0; group < spec.groups.size(); ++group) {
      add_group(group, spec.groups[group]);
    }
    for (const CommLink& link : spec.links) {
      add_link(link);
    }
  }

  [[nodiscard]] std::span<Endpoint* const> endpoints() override { return endpoints_; }
  [[nodiscard]] std::optional<Error> failure() const override { return run_.failure(); }

 private:
  MeetingPlace& add_place(std::string label, std::vector<RankId> members) {
    places_.push_back(std::make_unique<MeetingPlace>(run_, std::move(label), std::move(members)));
    return *places_.back();
  }

  void add_world() {
    std::vector<RankId> all;
    for (const auto& endpoint : owned_) {
      all.push_back(endpoint->rank());
    }
    MeetingPlace& place = add_place("the world", std::move(all));
    for (std::size_t rank = 0; rank < owned_.size(); ++rank) {
      owned_[rank]->join_world(place, rank);
    }
  }

  void add_group(std::size_t index, const CommGroup& group) {
    MeetingPlace& place = add_place(fmt::format("group '{}'", group.label), group.members);
    for (std::size_t member = 0; member < group.members.size(); ++member) {
      owned_[group.members[member].index()]->join_group(index, place, member, group.label);
    }
  }

  void add_link(const CommLink& link) {
    MeetingPlace& place = add_place(fmt::format("from rank {} to rank {} on channel {}",
                                                link.source.value(),
                                                link.destination.value(),
                                                link.channel.value()),
                                    {link.source, link.destination});
    owned_[link.source.index()]->links().add_sender(link.destination, link.channel, place);
    owned_[link.destination.index()]->links().add_receiver(link.source, link.channel, place);
  }

  // The run goes last: its progress threads end before the places that they work for.
  std::vector<std::unique_ptr<MeetingPlace>> places_;
  std::vector<std::unique_ptr<InProcessEndpoint>> owned_;
  std::vector<Endpoint*> endpoints_;
  HostRun run_;
};

}  // namespace

Result<std::unique_ptr<World>> make_in_process_world(const WorldSpec& spec,
                                                     const InProcessOptions& options) {
  if (Result<void> valid = validate(spec); !valid) {
    return pass_on(std::move(valid));
  }
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  HostRunOptions run;
  run.timeout = options.timeout;
  run.inline_limit = options.inline_limit;
  // Without an idle core another thread would only take turns with this one, so that waking
  // it pays off later: the 1 MiB of the default limit take about 40 us.
  run.busy_inline_limit = options.inline_limit * 16;
  // About what it takes to sleep and be woken on another core, so that a short wait costs at
  // most twice that; less where every moment is a computing rank's.
  run.spin = std::chrono::microseconds(spec.ranks <= cores ? 50 : 20);
  run.spare_cores = spec.ranks < cores;
  if (options.mover != nullptr) {
    run.mover = options.mover;
  }
  return std::make_unique<InProcessWorld>(spec, run);
}

}  // namespace stagewright
