// TQ1_0: 256 ternary weights share one f16 scale. weight[i] = scale · (digit[i] − 1), five base-3 digits per
// byte. A byte holds the fraction 0.d0 d1 d2 d3 d4 in base 3, scaled to 256 and rounded up: multiplying by
// 3^n modulo 256 moves digit n to the front, and · 3 / 256 reads it. Digit n of the bytes q[0…31] are weights
// 32n …, of q[32…47] weights 160 + 16n …, and of the four bytes `last` (four digits each) weights 240 + 4n ….
#pragma once

#include "core/half.h"
#include "formats/format.h"

namespace id2vec {

struct TQ1_0 {
  static constexpr std::string_view kName = "TQ1_0";
  static constexpr int32_t kGgmlType = 34;
  static constexpr size_t kBlockSize = 256, kGroupSize = 32;
  static constexpr int32_t kQuantMin = -1, kQuantMax = 1;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint8_t q[48];
    uint8_t last[4];
    uint16_t scale;
  };
  static_assert(sizeof(Block) == 54);

  static constexpr int32_t quant(const Block& block, size_t i) {
    if (i < 160) return digit(block.q[i % 32], i / 32) - 1;
    if (i < 240) return digit(block.q[32 + i % 16], (i - 160) / 16) - 1;
    return digit(block.last[i % 4], (i - 240) / 4) - 1;
  }
  static constexpr Affine affine(const Block& block, size_t) { return {f16_to_float(block.scale), 0}; }
  static constexpr float value(const Block& block, size_t i) { return group_value<TQ1_0>(block, i); }

 private:
  static constexpr int32_t digit(uint8_t byte, size_t n) {
    constexpr uint8_t kPowersOf3[5] = {1, 3, 9, 27, 81};
    return uint8_t(byte * kPowersOf3[n]) * 3 >> 8;
  }
};

}  // namespace id2vec
