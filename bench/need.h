#pragma once

#include <cstdlib>
#include <iostream>
#include <utility>

#include "core/base/result.h"

namespace stagewright {

/// The value; where there is none, ends the program with the message.
template <class T>
T need(Result<T> result) {
  if (!result) {
    std::cerr << "error: " << result.error().to_string() << "\n";
    std::exit(EXIT_FAILURE);
  }
  return std::move(*result);
}

inline void need(const Result<void>& result) {
  if (!result) {
    std::cerr << "error: " << result.error().to_string() << "\n";
    std::exit(EXIT_FAILURE);
  }
}

}  // namespace stagewright
