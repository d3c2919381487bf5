// Q5_1: 32 weights share an f16 scale and an f16 offset. weight[i] = scale · q[i] + offset.
// The bits of q lie as in Q5_0.
#pragma once

#include "core/half.h"
#include "formats/format.h"
#include "formats/nibbles.h"

namespace id2vec {

struct Q5_1 {
  static constexpr std::string_view kName = "Q5_1";
  static constexpr int32_t kGgmlType = 7;
  static constexpr size_t kBlockSize = 32, kGroupSize = 32;
  static constexpr int32_t kQuantMin = 0, kQuantMax = 31;
  static constexpr bool kHasOffset = true;
  struct Block {
    uint16_t scale;
    uint16_t offset;
    uint8_t high[4];
    uint8_t low[16];
  };
  static_assert(sizeof(Block) == 24);

  static constexpr int32_t quant(const Block& block, size_t i) {
    const int32_t fifth = block.high[i / 8] >> i % 8 & 1;
    return split_nibble<16>(block.low, i) | fifth << 4;
  }
  static constexpr Affine affine(const Block& block, size_t) {
    return {f16_to_float(block.scale), f16_to_float(block.offset)};
  }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q5_1>(block, i); }
};

}  // namespace id2vec
