// Q4_K: 256 weights in 8 groups of 32. weight[i] = scale · s[i / 32] · q[i] − min_scale · m[i / 32].
// Byte 32c + l holds weights 64c + l (low nibble) and 64c + 32 + l (high nibble), c < 4, l < 32; s and m:
// k_scales.h.
#pragma once

#include "core/half.h"
#include "formats/format.h"
#include "formats/k_scales.h"
#include "formats/nibbles.h"

namespace id2vec {

struct Q4_K {
  static constexpr std::string_view kName = "Q4_K";
  static constexpr int32_t kGgmlType = 12;
  static constexpr size_t kBlockSize = 256, kGroupSize = 32;
  static constexpr int32_t kQuantMin = 0, kQuantMax = 15;
  static constexpr bool kHasOffset = true;
  struct Block {
    uint16_t scale;
    uint16_t min_scale;
    uint8_t scales[12];
    uint8_t q[128];
  };
  static_assert(sizeof(Block) == 144);

  static constexpr int32_t quant(const Block& block, size_t i) {
    return split_nibble<32>(block.q + i / 64 * 32, i % 64);
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    const ScaleAndMin packed = k_scale_and_min(block.scales, group);
    return {f16_to_float(block.scale) * float(packed.scale),
            -(f16_to_float(block.min_scale) * float(packed.min))};
  }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q4_K>(block, i); }
};

}  // namespace id2vec
