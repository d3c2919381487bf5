// TQ2_0: 256 weights share one f16 scale. weight[i] = scale · (q[i] − 1); two bits per weight, laid out as in
// Q2_K.
#pragma once

#include "core/half.h"
#include "formats/format.h"

namespace id2vec {

struct TQ2_0 {
  static constexpr std::string_view kName = "TQ2_0";
  static constexpr int32_t kGgmlType = 35;
  static constexpr size_t kBlockSize = 256, kGroupSize = 32;
  static constexpr int32_t kQuantMin = -1, kQuantMax = 2;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint8_t q[64];
    uint16_t scale;
  };
  static_assert(sizeof(Block) == 66);

  static constexpr int32_t quant(const Block& block, size_t i) {
    return (block.q[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3) - 1;
  }
  static constexpr Affine affine(const Block& block, size_t) { return {f16_to_float(block.scale), 0}; }
  static constexpr float value(const Block& block, size_t i) { return group_value<TQ2_0>(block, i); }
};

}  // namespace id2vec
