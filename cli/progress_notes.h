#pragma once

#include <chrono>
#include <string_view>

#include "cli/context.h"

namespace stagewright {

/// Tells how far long work is: on a terminal at once, each note in the place of the one before;
/// elsewhere a line when nothing was told for some time, so that short work stays silent.
class ProgressNotes {
 public:
  using Clock = std::chrono::steady_clock;

  explicit ProgressNotes(const Context& context, Clock::duration silence = std::chrono::seconds(5))
      : context_(context), silence_(silence), last_(Clock::now()) {}
  ~ProgressNotes() { context_.progress(""); }
  ProgressNotes(const ProgressNotes&) = delete;
  ProgressNotes& operator=(const ProgressNotes&) = delete;

  void note(std::string_view text);

 private:
  const Context& context_;
  Clock::duration silence_;
  Clock::time_point last_;
};

}  // namespace stagewright
