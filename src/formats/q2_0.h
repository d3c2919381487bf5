// Q2_0: 64 weights share one f16 scale. weight[i] = scale · (q[i] − 1); four weights per byte, low bits
// first.
#pragma once

#include "core/half.h"
#include "formats/format.h"

namespace id2vec {

struct Q2_0 {
  static constexpr std::string_view kName = "Q2_0";
  static constexpr int32_t kGgmlType = 42;
  static constexpr size_t kBlockSize = 64, kGroupSize = 32;
  static constexpr int32_t kQuantMin = -1, kQuantMax = 2;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint16_t scale;
    uint8_t q[16];
  };
  static_assert(sizeof(Block) == 18);

  static constexpr int32_t quant(const Block& block, size_t i) {
    return (block.q[i / 4] >> (i % 4 * 2) & 3) - 1;
  }
  static constexpr Affine affine(const Block& block, size_t) { return {f16_to_float(block.scale), 0}; }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q2_0>(block, i); }
};

}  // namespace id2vec
