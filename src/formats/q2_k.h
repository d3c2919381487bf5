// Q2_K: 256 weights in 16 groups of 16. weight[i] = scale · (s & 15) · q[i] − min_scale · (s >> 4), s =
// scales[i / 16]. Two bits per weight: byte 32h + l holds weights 128h + l + {0, 32, 64, 96}, from its low
// bits up (h < 2, l < 32).
#pragma once

#include "core/half.h"
#include "formats/format.h"

namespace id2vec {

struct Q2_K {
  static constexpr std::string_view kName = "Q2_K";
  static constexpr int32_t kGgmlType = 10;
  static constexpr size_t kBlockSize = 256, kGroupSize = 16;
  static constexpr int32_t kQuantMin = 0, kQuantMax = 3;
  static constexpr bool kHasOffset = true;
  struct Block {
    uint8_t scales[16];
    uint8_t q[64];
    uint16_t scale;
    uint16_t min_scale;
  };
  static_assert(sizeof(Block) == 84);

  static constexpr int32_t quant(const Block& block, size_t i) {
    return block.q[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    const uint8_t packed = block.scales[group];
    return {f16_to_float(block.scale) * float(packed & 15),
            -(f16_to_float(block.min_scale) * float(packed >> 4))};
  }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q2_K>(block, i); }
};

}  // namespace id2vec
