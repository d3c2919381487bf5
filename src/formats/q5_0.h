// Q5_0: 32 weights share one f16 scale. weight[i] = scale · (q[i] − 16).
// The low 4 bits of q lie as in Q4_0; the fifth bit of weight i is bit i of the 32 bits in `high`.
#pragma once

#include "core/half.h"
#include "core/simd.h"
#include "formats/format.h"
#include "formats/nibbles.h"

namespace id2vec {

struct Q5_0 {
  static constexpr std::string_view kName = "Q5_0";
  static constexpr int32_t kGgmlType = 6;
  static constexpr size_t kBlockSize = 32, kGroupSize = 32;
  static constexpr int32_t kQuantMin = -16, kQuantMax = 15;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint16_t scale;
    uint8_t high[4];
    uint8_t low[16];
  };
  static_assert(sizeof(Block) == 22);

  static constexpr int32_t quant(const Block& block, size_t i) {
    const int32_t fifth = block.high[i / 8] >> i % 8 & 1;
    return (split_nibble<16>(block.low, i) | fifth << 4) - 16;
  }
  static constexpr Affine affine(const Block& block, size_t) { return {f16_to_float(block.scale), 0}; }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q5_0>(block, i); }

  static constexpr int32_t kZero = 16;
  static void raw(const Block& block, size_t, v128_t (&raw_i8x16)[2]) {
    split_nibbles(wasm_v128_load(block.low), raw_i8x16);
    add_fifth_bits(block.high, raw_i8x16);
  }
  static void scales(const Block* const (&rows)[4], v128_t (&scale_f32x4)[1], v128_t (&)[1]) {
    scale_f32x4[0] = load_usual_f16x4(&rows[0]->scale, &rows[1]->scale, &rows[2]->scale, &rows[3]->scale);
  }
};

}  // namespace id2vec
