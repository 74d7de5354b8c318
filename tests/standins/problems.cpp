#include "problems.h"

#include <mutex>

namespace standin {

namespace {

struct Notes {
  std::mutex mutex;
  std::string all;
};

[[nodiscard]] Notes& notes() {
  static auto* const kept = new Notes;  // streams may outlive static objects
  return *kept;
}

[[nodiscard]] std::string& last() {
  thread_local std::string text;
  return text;
}

}  // namespace

void note_problem(const std::string& text) {
  last() = text;
  const std::lock_guard lock(notes().mutex);
  notes().all += text + "\n";
}

std::string all_problems() {
  const std::lock_guard lock(notes().mutex);
  return notes().all;
}

const char* last_problem_of_this_thread() {
  return last().c_str();
}

void forget_problems() {
  const std::lock_guard lock(notes().mutex);
  notes().all.clear();
}

}  // namespace standin
