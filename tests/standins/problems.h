#pragma once

#include <string>

namespace standin {

/// Notes what a device would not forgive; the calling thread's last error text is the same.
void note_problem(const std::string& text);
[[nodiscard]] std::string all_problems();
[[nodiscard]] const char* last_problem_of_this_thread();
void forget_problems();

}  // namespace standin
