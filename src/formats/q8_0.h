// Q8_0: 32 weights share one f16 scale. weight[i] = scale · q[i].
#pragma once

#include "core/half.h"
#include "formats/format.h"

namespace id2vec {

struct Q8_0 {
  static constexpr std::string_view kName = "Q8_0";
  static constexpr int32_t kGgmlType = 8;
  static constexpr size_t kBlockSize = 32, kGroupSize = 32;
  static constexpr int32_t kQuantMin = -128, kQuantMax = 127;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint16_t scale;
    int8_t q[32];
  };
  static_assert(sizeof(Block) == 34);

  static constexpr int32_t quant(const Block& block, size_t i) { return block.q[i]; }
  static constexpr Affine affine(const Block& block, size_t) { return {f16_to_float(block.scale), 0}; }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q8_0>(block, i); }
};

}  // namespace id2vec
