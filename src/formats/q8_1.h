// Q8_1: Q8_0 with the sum of the block beside it. weight[i] = scale · q[i].
// ggml makes it for activations; `sum` = scale · Σ q is redundant and not read.
#pragma once

#include "core/half.h"
#include "formats/format.h"

namespace id2vec {

struct Q8_1 {
  static constexpr std::string_view kName = "Q8_1";
  static constexpr int32_t kGgmlType = 9;
  static constexpr size_t kBlockSize = 32, kGroupSize = 32;
  static constexpr int32_t kQuantMin = -128, kQuantMax = 127;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint16_t scale;
    uint16_t sum;
    int8_t q[32];
  };
  static_assert(sizeof(Block) == 36);

  static constexpr int32_t quant(const Block& block, size_t i) { return block.q[i]; }
  static constexpr Affine affine(const Block& block, size_t) { return {f16_to_float(block.scale), 0}; }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q8_1>(block, i); }
};

}  // namespace id2vec
