// Q4_K and Q5_K pack eight 6-bit scales and eight 6-bit minima into 12 bytes:
//
//   bytes 0…3    scale 0…3 in the low 6 bits, above them the upper 2 bits of scale 4…7
//   bytes 4…7    minimum 0…3 in the low 6 bits, above them the upper 2 bits of minimum 4…7
//   bytes 8…11   the lower 4 bits of scale 4…7, above them the lower 4 bits of minimum 4…7
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/simd.h"
#include "formats/nibbles.h"

namespace id2vec {

struct ScaleAndMin {
  int32_t scale, min;
};

constexpr ScaleAndMin k_scale_and_min(const uint8_t (&packed)[12], size_t group) {
  if (group < 4) return {packed[group] & 63, packed[group + 4] & 63};
  const int32_t low = packed[group + 4];
  return {(low & 15) | packed[group - 4] >> 6 << 4, low >> 4 | packed[group] >> 6 << 4};
}

// The same of four blocks: lane r belongs to block r, byte k of it to group k (first vector) or 4 + k (second).
inline void k_scales_and_mins(const uint8_t* const (&packed)[4], v128_t (&scales_u8x16)[2],
                              v128_t (&mins_u8x16)[2]) {
  v128_t words[3];
  for (size_t i = 0; i < 3; ++i) {
    words[i] = load_words(packed[0] + 4 * i, packed[1] + 4 * i, packed[2] + 4 * i, packed[3] + 4 * i);
  }
  const auto upper = [](v128_t word) { return wasm_i16x8_shl(bits_of<2>(word, 6), 4); };
  scales_u8x16[0] = bits_of<6>(words[0], 0);
  mins_u8x16[0] = bits_of<6>(words[1], 0);
  scales_u8x16[1] = wasm_v128_or(bits_of<4>(words[2], 0), upper(words[0]));
  mins_u8x16[1] = wasm_v128_or(bits_of<4>(words[2], 4), upper(words[1]));
}

}  // namespace id2vec
