// Q3_K: 256 weights in 16 groups of 16. weight[i] = scale · (s[i / 16] − 32) · q[i], q in −4…3.
// q + 4 has its low two bits laid out as in Q2_K, and its third bit is bit i / 32 of high[i % 32].
// The 6-bit s[g]: low 4 bits in nibble g / 8 of scales[g % 8], upper 2 in bit pair g / 4 of scales[8 + g % 4].
#pragma once

#include "core/half.h"
#include "formats/format.h"

namespace id2vec {

struct Q3_K {
  static constexpr std::string_view kName = "Q3_K";
  static constexpr int32_t kGgmlType = 11;
  static constexpr size_t kBlockSize = 256, kGroupSize = 16;
  static constexpr int32_t kQuantMin = -4, kQuantMax = 3;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint8_t high[32];
    uint8_t low[64];
    uint8_t scales[12];
    uint16_t scale;
  };
  static_assert(sizeof(Block) == 110);

  static constexpr int32_t quant(const Block& block, size_t i) {
    const int32_t low = block.low[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
    const int32_t third = block.high[i % 32] >> i / 32 & 1;
    return (low | third << 2) - 4;
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    const int32_t low = block.scales[group % 8] >> (group / 8 * 4) & 15;
    const int32_t high = block.scales[8 + group % 4] >> (group / 4 * 2) & 3;
    return {f16_to_float(block.scale) * float((low | high << 4) - 32), 0};
  }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q3_K>(block, i); }
};

}  // namespace id2vec
