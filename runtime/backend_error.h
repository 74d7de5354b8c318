#pragma once

#include <stdexcept>
#include <utility>

#include "core/base/result.h"

namespace stagewright {

/// A device or a peer failed in the middle of a run: thrown inside runtime/ only, and
/// turned into a Result where the run ends.  The message names rank, operation and peer.
class BackendError : public std::runtime_error {
 public:
  explicit BackendError(Error error)
      : std::runtime_error(error.to_string()), error_(std::move(error)) {}

  [[nodiscard]] const Error& error() const { return error_; }

 private:
  Error error_;
};

}  // namespace stagewright
