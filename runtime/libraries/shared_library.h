#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stagewright {

/// A library that is looked for when it is needed, so that one program serves machines with and
/// without it.
struct LibraryName {
  std::string_view title;     ///< for people: "the CUDA runtime"
  std::string file;           ///< what the dynamic linker looks for: "libcudart.so.13"
  std::string_view variable;  ///< of the environment, which names another file
  std::string package;        ///< what to install
};

/// Stays loaded until the process ends: libraries of devices keep threads of their own.
class SharedLibrary {
 public:
  /// `path`, else what the variable of the environment says, else the name.  kUnsupported, saying
  /// what is missing and what to do.
  [[nodiscard]] static Result<SharedLibrary> open(const LibraryName& name,
                                                  const std::string& path = {});

  [[nodiscard]] const std::string& file() const { return file_; }
  /// kUnsupported where the library has no such entry.
  [[nodiscard]] Result<void*> entry(const std::string& symbol) const;

 private:
  SharedLibrary(const LibraryName& name, std::string file, void* handle)
      : name_(name), file_(std::move(file)), handle_(handle) {}

  LibraryName name_;
  std::string file_;
  void* handle_ = nullptr;
};

}  // namespace stagewright
