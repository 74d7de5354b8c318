#include "formats/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include <fmt/format.h>

namespace stagewright {
namespace {

constexpr std::size_t kMostUnpacked = std::size_t{32} << 30U;

/// Ends the library's state, however we leave.
struct Inflater {
  z_stream stream{};
  bool begun = false;
  Inflater() {
    constexpr int kGzip = 16;  // beside the window's size: a gzip header is expected
    begun = inflateInit2(&stream, MAX_WBITS + kGzip) == Z_OK;
  }
  ~Inflater() {
    if (begun) {
      inflateEnd(&stream);
    }
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

}  // namespace

Result<std::string> unpacked(std::string content, std::string_view where) {
  if (!is_packed(content)) {
    return content;
  }
  Inflater inflater;
  z_stream& stream = inflater.stream;
  std::string result;
  std::array<char, std::size_t{1} << 16U> part{};
  std::size_t read = 0;
  int state = inflater.begun ? Z_OK : Z_MEM_ERROR;
  while (state == Z_OK && (read < content.size() || stream.avail_in > 0)) {
    if (stream.avail_in == 0) {
      const std::size_t next =
          std::min<std::size_t>(content.size() - read, std::numeric_limits<uInt>::max());
      // The library's type wants writable bytes and writes none.
      stream.next_in = reinterpret_cast<Bytef*>(content.data() + read);
      stream.avail_in = static_cast<uInt>(next);
      read += next;
    }
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    state = inflate(&stream, Z_NO_FLUSH);
    result.append(part.data(), part.size() - stream.avail_out);
    if (state == Z_STREAM_END && (stream.avail_in > 0 || read < content.size())) {
      state = inflateReset(&stream);  // files may be several, one behind the other
    }
    if (result.size() > kMostUnpacked) {
      return fail(ErrorCode::kInvalidInput,
                  "unpacks to more than 32 GiB; cut it to a few steps",
                  std::string(where));
    }
  }
  if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("its compressed bytes are broken ({}); copy it anew",
                            stream.msg == nullptr ? "zlib cannot begin" : stream.msg),
                std::string(where));
  }
  return result;
}

}  // namespace stagewright
