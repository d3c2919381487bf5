#include "stage/checks.h"

#include "core/text.h"

namespace id2vec {

Status check_below(std::span<const uint32_t> ids, uint64_t limit, std::string_view what,
                   std::string_view table) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < limit) continue;
    return fail(Code::kOutOfRange, what, " ", ids[i], " at index ", i, " is outside ", table, " of ", limit,
                " rows (0 … ", limit == 0 ? 0 : limit - 1, ").");
  }
  return {};
}

Status check_length(std::string_view name, size_t length, size_t expected, std::string_view shape) {
  if (length == expected) return {};
  return fail(Code::kInvalidArgument, name, " has ", length, " values where ", shape, " needs ", expected,
              ".");
}

}  // namespace id2vec
