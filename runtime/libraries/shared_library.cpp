#include "runtime/libraries/shared_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace stagewright {

namespace {

[[nodiscard]] std::string last_error() {
  const char* const text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

}  // namespace

Result<SharedLibrary> SharedLibrary::open(const LibraryName& name, const std::string& path) {
  std::string file = path;
  if (file.empty()) {
    const char* const chosen = std::getenv(std::string(name.variable).c_str());
    file = chosen != nullptr ? chosen : name.file;
  }
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} is missing ({}); install {} or name its file in {}",
                            name.title,
                            last_error(),
                            name.package,
                            name.variable));
  }
  return SharedLibrary(name, std::move(file), handle);
}

Result<void*> SharedLibrary::entry(const std::string& symbol) const {
  void* const found = dlsym(handle_, symbol.c_str());
  if (found == nullptr) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} has no entry {}: another version than this program was built for; "
                            "install {} or name another file in {}",
                            name_.title,
                            symbol,
                            name_.package,
                            name_.variable),
                file_);
  }
  return found;
}

}  // namespace stagewright
