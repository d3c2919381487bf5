// Q4_0: 32 weights share one f16 scale. weight[i] = scale · (nibble[i] − 8).
// Low nibbles of q[0…15] are weights 0…15, high nibbles are weights 16…31.
#pragma once

#include "core/half.h"
#include "formats/format.h"
#include "formats/nibbles.h"

namespace id2vec {

struct Q4_0 {
  static constexpr std::string_view kName = "Q4_0";
  static constexpr int32_t kGgmlType = 2;
  static constexpr size_t kBlockSize = 32, kGroupSize = 32;
  static constexpr int32_t kQuantMin = -8, kQuantMax = 7;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint16_t scale;
    uint8_t q[16];
  };
  static_assert(sizeof(Block) == 18);

  static constexpr int32_t quant(const Block& block, size_t i) { return split_nibble<16>(block.q, i) - 8; }
  static constexpr Affine affine(const Block& block, size_t) { return {f16_to_float(block.scale), 0}; }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q4_0>(block, i); }

  static constexpr int32_t kZero = 8;
  static void raw(const Block& block, size_t, v128_t (&raw_i8x16)[2]) {
    split_nibbles(wasm_v128_load(block.q), raw_i8x16);
  }
  static void scales(const Block* const (&rows)[4], v128_t (&scale_f32x4)[1], v128_t (&)[1]) {
    scale_f32x4[0] = load_usual_f16x4(&rows[0]->scale, &rows[1]->scale, &rows[2]->scale, &rows[3]->scale);
  }
};

}  // namespace id2vec
