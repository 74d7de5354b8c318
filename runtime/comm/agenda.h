#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/base/result.h"

namespace stagewright {

class HostProgress;
class Meeting;

/// What has to be done next, collected while locks are held and done by run() when none
/// is: the one place where one rank's thread touches another rank's queues.  So no two
/// ranks' locks are ever held together, and a chain of completions needs no recursion.
class Agenda {
 public:
  /// `actor` is the rank whose thread this is.
  explicit Agenda(HostProgress& actor) : actor_(actor) {}

  /// Operations of this rank may have become able to begin.
  void pump_later(HostProgress& progress);
  /// All members have come together: the transfer can be made.
  void transfer_later(std::shared_ptr<Meeting> meeting);
  /// The run cannot go on.  The first reason counts.
  void abort_later(Error reason);

  /// REQUIRES: the calling thread holds no lock of this layer.
  void run();

 private:
  void dispatch(const std::shared_ptr<Meeting>& meeting);

  HostProgress& actor_;
  std::vector<HostProgress*> pumps_;
  std::vector<std::shared_ptr<Meeting>> transfers_;
  std::optional<Error> abort_;
};

}  // namespace stagewright
