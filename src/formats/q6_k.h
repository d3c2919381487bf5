// Q6_K: 256 weights in 16 groups of 16. weight[i] = scale · scales[i / 16] · q[i], q in −32…31.
// q + 32 has its low 4 bits in `low` and its upper 2 in `high`, both in two halves of 128 weights:
// low[64h + l] holds weights 128h + l (low nibble) and 128h + 64 + l (high nibble), h < 2, l < 64;
// high[32h + l] holds weights 128h + l + {0, 32, 64, 96}, from its low bits up, l < 32.
#pragma once

#include "core/half.h"
#include "formats/format.h"
#include "formats/nibbles.h"

namespace id2vec {

struct Q6_K {
  static constexpr std::string_view kName = "Q6_K";
  static constexpr int32_t kGgmlType = 14;
  static constexpr size_t kBlockSize = 256, kGroupSize = 16;
  static constexpr int32_t kQuantMin = -32, kQuantMax = 31;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint8_t low[128];
    uint8_t high[64];
    int8_t scales[16];
    uint16_t scale;
  };
  static_assert(sizeof(Block) == 210);

  static constexpr int32_t quant(const Block& block, size_t i) {
    const int32_t low = split_nibble<64>(block.low + i / 128 * 64, i % 128);
    const int32_t high = block.high[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
    return (low | high << 4) - 32;
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    return {f16_to_float(block.scale) * float(block.scales[group]), 0};
  }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q6_K>(block, i); }
};

}  // namespace id2vec
