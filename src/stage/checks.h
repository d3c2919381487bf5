// Checks that every entry of a call passes before anything is written.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/status.h"

namespace id2vec {

// kOutOfRange, naming the id, its place and the limit, for the first id that is not below `limit`. `what` is the
// noun of the sentence ("id", "token type", "position"), `table` what it indexes ("the vocabulary").
Status check_below(std::span<const uint32_t> ids, uint64_t limit, std::string_view what,
                   std::string_view table);

// kInvalidArgument where an array's length is not what the call needs.
Status check_length(std::string_view name, size_t length, size_t expected, std::string_view shape);

}  // namespace id2vec
