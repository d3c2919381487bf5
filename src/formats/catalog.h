// Run-time view of the one list of formats (formats/formats.h), for code that meets dtypes by name or number.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace id2vec {

// A dtype that a container can name. Formats come first, in the order of the list; the plain integer types
// behind them (I8 … U64, BOOL) can be named and measured but are no table format.
struct Dtype {
  std::string_view name;    // "F32", "Q8_0", "I64", …
  int32_t ggml_type = -1;   // GGUF's number, −1 where it has none
  uint32_t block_size = 1;  // weights per block
  uint32_t block_bytes = 0;
  bool planar = false;      // scales and offsets lie apart from the quants (formats/affine.h)
  int32_t format = -1;      // index into the list of formats, −1 for the plain integer types
};

std::span<const Dtype> dtypes();
const Dtype* dtype_by_name(std::string_view name);  // null if unknown
const Dtype* dtype_by_ggml_type(uint32_t type);     // null if unknown or removed

}  // namespace id2vec
