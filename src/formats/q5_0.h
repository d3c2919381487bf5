// Q5_0: 32 weights share one f16 scale. weight[i] = scale · (q[i] − 16).
// The low 4 bits of q lie as in Q4_0; the fifth bit of weight i is bit i of the 32 bits in `high`.
#pragma once

#include "core/half.h"
#include "formats/format.h"
#include "formats/nibbles.h"

namespace id2vec {

struct Q5_0 {
  static constexpr std::string_view kName = "Q5_0";
  static constexpr int32_t kGgmlType = 6;
  static constexpr size_t kBlockSize = 32, kGroupSize = 32;
  static constexpr int32_t kQuantMin = -16, kQuantMax = 15;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint16_t scale;
    uint8_t high[4];
    uint8_t low[16];
  };
  static_assert(sizeof(Block) == 22);

  static constexpr int32_t quant(const Block& block, size_t i) {
    const int32_t fifth = block.high[i / 8] >> i % 8 & 1;
    return (split_nibble<16>(block.low, i) | fifth << 4) - 16;
  }
  static constexpr Affine affine(const Block& block, size_t) { return {f16_to_float(block.scale), 0}; }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q5_0>(block, i); }
};

}  // namespace id2vec
