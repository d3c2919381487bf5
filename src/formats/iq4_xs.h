// IQ4_XS: 256 weights in 8 groups of 32. weight[i] = scale · (s[i / 32] − 32) · level[nibble[i]], levels of
// IQ4_NL. The 6-bit s[g]: low 4 bits in nibble g of scales_low, upper 2 bits in bit pair g of scales_high.
// Each group's 16 bytes hold its nibbles as IQ4_NL does.
#pragma once

#include "core/half.h"
#include "formats/format.h"
#include "formats/nibbles.h"

namespace id2vec {

struct IQ4_XS {
  static constexpr std::string_view kName = "IQ4_XS";
  static constexpr int32_t kGgmlType = 23;
  static constexpr size_t kBlockSize = 256, kGroupSize = 32;
  static constexpr int32_t kQuantMin = -127, kQuantMax = 113;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint16_t scale;
    uint16_t scales_high;
    uint8_t scales_low[4];
    uint8_t q[128];
  };
  static_assert(sizeof(Block) == 136);

  static constexpr int32_t quant(const Block& block, size_t i) {
    return kIq4Levels[split_nibble<16>(block.q + i / 32 * 16, i % 32)];
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    const int32_t low = block.scales_low[group / 2] >> (group % 2 * 4) & 15;
    const int32_t high = block.scales_high >> (group * 2) & 3;
    return {f16_to_float(block.scale) * float((low | high << 4) - 32), 0};
  }
  static constexpr float value(const Block& block, size_t i) { return group_value<IQ4_XS>(block, i); }
};

}  // namespace id2vec
