#include "cli/progress_notes.h"

#include <ostream>

namespace stagewright {

void ProgressNotes::note(std::string_view text) {
  if (context_.terminal.progress) {
    context_.progress(text);
    return;
  }
  const Clock::time_point now = Clock::now();
  if (now - last_ >= silence_) {
    last_ = now;
    *context_.err << text << std::endl;  // NOLINT(performance-avoid-endl): told now or not at all
  }
}

}  // namespace stagewright
