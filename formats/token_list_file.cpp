#include "formats/token_list_file.h"

#include <cstddef>

#include "formats/pytorch_csv.h"
#include "formats/schedule_vector.h"

namespace stagewright {

namespace {

constexpr std::string_view kSpace = " \t\r\n";
}  // namespace

// A group call of a CSV begins with a brace, too, but its first action with a number.
bool looks_like_json(std::string_view text) {
  // Behind white space and a mark of UTF-8.
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos) {
    return false;
  }
  text.remove_prefix(first);
  if (text.front() == '{') {
    const std::size_t next = text.find_first_not_of(kSpace, 1);
    return next == std::string_view::npos || text[next] < '0' || text[next] > '9';
  }
  const std::string_view word = text.substr(0, text.find_last_not_of(kSpace) + 1);
  return text.front() == '[' || word == "null" || word == "true" || word == "false";
}

Result<TokenList> parse_token_list(std::string_view text, std::string_view where) {
  return looks_like_json(text) ? parse_schedule_vector(text, where)
                               : parse_pytorch_csv(text, where);
}

}  // namespace stagewright
