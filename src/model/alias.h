// Under which names checkpoints keep what: the one table of tensor names.
#pragma once

#include <cstdint>
#include <string_view>

#include "containers/directory.h"

namespace id2vec {

// What a tensor must look like to play a role. V, r and d as in model.h.
enum class Form : uint8_t {
  kTable,       // [V, r]: decides V and r
  kHead,        // [V, r], or its transpose where that is the only reading
  kRows,        // [n, r] or [n, d]
  kWidth,       // [r] or [d]
  kLogits,      // [V] or [1, V]
  kProjection,  // [d, r]
  kHidden,      // [d]
  kToRow,       // [r, any]
  kRowWidth,    // [r]
  kMatrix,      // [any, any]
  kIntegers,    // [any], I32, I64 or U32
  kNumbers,     // [any], a float type
};

struct RoleNames {
  std::string_view role;
  Form form;
  // Separated by spaces, the surest first. A name that starts with '*' may follow other parts ("*wte.weight" is
  // also "transformer.wte.weight", but never "layers.0.wte.weight" or "vision.wte.weight").
  std::string_view names;
};

std::span<const RoleNames> role_names();

// Goes through `names`: removes the first one, and returns it.
std::string_view next_name(std::string_view& names);

// True if `tensor` is the name `pattern`, which may start with '*'.
bool name_matches(std::string_view pattern, std::string_view tensor);

}  // namespace id2vec
