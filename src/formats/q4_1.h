// Q4_1: 32 weights share an f16 scale and an f16 offset. weight[i] = scale · nibble[i] + offset.
// Low nibbles of q[0…15] are weights 0…15, high nibbles are weights 16…31.
#pragma once

#include "core/half.h"
#include "formats/format.h"
#include "formats/nibbles.h"

namespace id2vec {

struct Q4_1 {
  static constexpr std::string_view kName = "Q4_1";
  static constexpr int32_t kGgmlType = 3;
  static constexpr size_t kBlockSize = 32, kGroupSize = 32;
  static constexpr int32_t kQuantMin = 0, kQuantMax = 15;
  static constexpr bool kHasOffset = true;
  struct Block {
    uint16_t scale;
    uint16_t offset;
    uint8_t q[16];
  };
  static_assert(sizeof(Block) == 20);

  static constexpr int32_t quant(const Block& block, size_t i) { return split_nibble<16>(block.q, i); }
  static constexpr Affine affine(const Block& block, size_t) {
    return {f16_to_float(block.scale), f16_to_float(block.offset)};
  }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q4_1>(block, i); }
};

}  // namespace id2vec
