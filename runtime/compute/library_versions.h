#pragma once

#include <map>
#include <string>

namespace stagewright {

/// Names and versions of what the CPU kernels were built with and run on ("oneDNN" -> "2.6.3",
/// "compiler" -> "g++ 12.2.0", "instruction set" -> "avx512"), for the record of a measurement.
[[nodiscard]] std::map<std::string, std::string> library_versions();

}  // namespace stagewright
