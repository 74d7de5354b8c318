#pragma once

#include "core/base/result.h"

namespace stagewright {

/// What the process returns; listed in `stagewright --help` and docs/cli.md.
enum class ExitCode : int {
  kSuccess = 0,
  kCheckFailed = 1,    ///< the command worked, what it checks does not hold (compare --max-error)
  kUsage = 2,          ///< the command line is wrong
  kInvalidInput = 3,   ///< a file or value is malformed, or a name is not known
  kInfeasible = 4,     ///< well-formed, but no plan can satisfy it
  kUnsupported = 5,    ///< valid, but this build cannot do it
  kIo = 6,             ///< reading or writing a file failed
  kRunFailed = 7,      ///< a device or rank failed during a run
  kInterrupted = 130,  ///< Ctrl-C; files written so far are whole
};

[[nodiscard]] constexpr ExitCode exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
    case ErrorCode::kNotFound:
      return ExitCode::kInvalidInput;
    case ErrorCode::kInfeasible:
      return ExitCode::kInfeasible;
    case ErrorCode::kUnsupported:
      return ExitCode::kUnsupported;
    case ErrorCode::kIo:
      return ExitCode::kIo;
    case ErrorCode::kBackendFailed:
      return ExitCode::kRunFailed;
  }
  return ExitCode::kInvalidInput;
}

}  // namespace stagewright
