// Q4_K and Q5_K pack eight 6-bit scales and eight 6-bit minima into 12 bytes:
//
//   bytes 0…3    scale 0…3 in the low 6 bits, above them the upper 2 bits of scale 4…7
//   bytes 4…7    minimum 0…3 in the low 6 bits, above them the upper 2 bits of minimum 4…7
//   bytes 8…11   the lower 4 bits of scale 4…7, above them the lower 4 bits of minimum 4…7
#pragma once

#include <cstddef>
#include <cstdint>

namespace id2vec {

struct ScaleAndMin {
  int32_t scale, min;
};

constexpr ScaleAndMin k_scale_and_min(const uint8_t (&packed)[12], size_t group) {
  if (group < 4) return {packed[group] & 63, packed[group + 4] & 63};
  const int32_t low = packed[group + 4];
  return {(low & 15) | packed[group - 4] >> 6 << 4, low >> 4 | packed[group] >> 6 << 4};
}

}  // namespace id2vec
