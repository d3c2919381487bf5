// Q1_0: 128 signs share one f16 scale. weight[i] = bit i ? scale : −scale; bit i is bit i % 8 of bits[i / 8].
#pragma once

#include "core/half.h"
#include "formats/format.h"

namespace id2vec {

struct Q1_0 {
  static constexpr std::string_view kName = "Q1_0";
  static constexpr int32_t kGgmlType = 41;
  static constexpr size_t kBlockSize = 128, kGroupSize = 32;
  static constexpr int32_t kQuantMin = -1, kQuantMax = 1;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint16_t scale;
    uint8_t bits[16];
  };
  static_assert(sizeof(Block) == 18);

  static constexpr int32_t quant(const Block& block, size_t i) {
    return (block.bits[i / 8] >> i % 8 & 1) != 0 ? 1 : -1;
  }
  static constexpr Affine affine(const Block& block, size_t) { return {f16_to_float(block.scale), 0}; }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q1_0>(block, i); }
};

}  // namespace id2vec
