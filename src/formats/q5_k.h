// Q5_K: Q4_K with a fifth bit. weight[i] = scale · s[i / 32] · q[i] − min_scale · m[i / 32].
// The fifth bit of weight i is bit i / 32 of high[i % 32].
#pragma once

#include "core/half.h"
#include "formats/format.h"
#include "formats/k_scales.h"
#include "formats/nibbles.h"

namespace id2vec {

struct Q5_K {
  static constexpr std::string_view kName = "Q5_K";
  static constexpr int32_t kGgmlType = 13;
  static constexpr size_t kBlockSize = 256, kGroupSize = 32;
  static constexpr int32_t kQuantMin = 0, kQuantMax = 31;
  static constexpr bool kHasOffset = true;
  struct Block {
    uint16_t scale;
    uint16_t min_scale;
    uint8_t scales[12];
    uint8_t high[32];
    uint8_t low[128];
  };
  static_assert(sizeof(Block) == 176);

  static constexpr int32_t quant(const Block& block, size_t i) {
    const int32_t fifth = block.high[i % 32] >> i / 32 & 1;
    return split_nibble<32>(block.low + i / 64 * 32, i % 64) | fifth << 4;
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    const ScaleAndMin packed = k_scale_and_min(block.scales, group);
    return {f16_to_float(block.scale) * float(packed.scale),
            -(f16_to_float(block.min_scale) * float(packed.min))};
  }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q5_K>(block, i); }
};

}  // namespace id2vec
