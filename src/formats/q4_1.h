// Q4_1: 32 weights share an f16 scale and an f16 offset. weight[i] = scale · nibble[i] + offset.
// Low nibbles of q[0…15] are weights 0…15, high nibbles are weights 16…31.
#pragma once

#include "core/half.h"
#include "core/simd.h"
#include "formats/format.h"
#include "formats/nibbles.h"

namespace id2vec {

struct Q4_1 {
  static constexpr std::string_view kName = "Q4_1";
  static constexpr int32_t kGgmlType = 3;
  static constexpr size_t kBlockSize = 32, kGroupSize = 32;
  static constexpr int32_t kQuantMin = 0, kQuantMax = 15;
  static constexpr bool kHasOffset = true;
  struct Block {
    uint16_t scale;
    uint16_t offset;
    uint8_t q[16];
  };
  static_assert(sizeof(Block) == 20);

  static constexpr int32_t quant(const Block& block, size_t i) { return split_nibble<16>(block.q, i); }
  static constexpr Affine affine(const Block& block, size_t) {
    return {f16_to_float(block.scale), f16_to_float(block.offset)};
  }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q4_1>(block, i); }

  static constexpr int32_t kZero = 0;
  static void raw(const Block& block, size_t, v128_t (&raw_i8x16)[2]) {
    split_nibbles(wasm_v128_load(block.q), raw_i8x16);
  }
  static void scales(const Block* const (&rows)[4], v128_t (&scale_f32x4)[1], v128_t (&offset_f32x4)[1]) {
    scale_f32x4[0] = load_usual_f16x4(&rows[0]->scale, &rows[1]->scale, &rows[2]->scale, &rows[3]->scale);
    offset_f32x4[0] = load_f16x4(&rows[0]->offset, &rows[1]->offset, &rows[2]->offset, &rows[3]->offset);
  }
};

}  // namespace id2vec
