#include "formats/token_list_file.h"

#include <cstddef>

#include "formats/pytorch_csv.h"
#include "formats/schedule_vector.h"

namespace stagewright {

Result<TokenList> parse_token_list(std::string_view text, std::string_view where) {
  // Behind white space and a mark of UTF-8.  A group call of a CSV begins with a brace, too.
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool json = first != std::string_view::npos &&
                    (text[first] == '[' ||
                     (text[first] == '{' && text.find('"', first) != std::string_view::npos));
  return json ? parse_schedule_vector(text, where) : parse_pytorch_csv(text, where);
}

}  // namespace stagewright
