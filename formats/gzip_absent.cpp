#include "formats/gzip.h"

namespace stagewright {

Result<std::string> unpacked(std::string content, std::string_view where) {
  if (!is_packed(content)) {
    return content;
  }
  return fail(ErrorCode::kUnsupported,
              "is compressed, and this build has no zlib; unpack it first (gunzip --keep)",
              std::string(where));
}

}  // namespace stagewright
