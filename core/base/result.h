#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace stagewright {

enum class ErrorCode {
  kInvalidInput,   ///< a file, flag or message is malformed
  kNotFound,       ///< a name the user gave matches nothing
  kInfeasible,     ///< well-formed, but no plan or schedule can satisfy it
  kUnsupported,    ///< valid, but this build or version cannot do it
  kIo,             ///< the operating system refused to read or write
  kBackendFailed,  ///< CUDA, NCCL, MPI or a peer rank failed during a run
};

/// What went wrong, in words a user can act on: `message` says what and what to do,
/// `where` names the input ("profiles/hardware/h200.json:/links/0/bandwidth"),
/// never a line of our source.
struct Error {
  ErrorCode code = ErrorCode::kInvalidInput;
  std::string message;
  std::string where;

  /// "where: message", or just the message.
  [[nodiscard]] std::string to_string() const {
    return where.empty() ? message : where + ": " + message;
  }
  friend bool operator==(const Error&, const Error&) = default;
};

/// Value or Error.  Swap the alias for std::expected once the compilers have it.
template <class T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code,
                                                std::string message,
                                                std::string where = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(where)});
}

/// Passes an error of one Result on as the error of another.
template <class T>
[[nodiscard]] tl::unexpected<Error> pass_on(Result<T>&& failed) {
  return tl::unexpected<Error>(std::move(failed).error());
}

}  // namespace stagewright
