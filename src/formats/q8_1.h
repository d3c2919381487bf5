// Q8_1: Q8_0 with the sum of the block beside it. weight[i] = scale · q[i].
// ggml makes it for activations; `sum` = scale · Σ q is redundant and not read.
#pragma once

#include "core/half.h"
#include "core/simd.h"
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

  static constexpr int32_t kZero = 0;
  static constexpr bool kRare = true;
  static void raw(const Block& block, size_t, v128_t (&raw_i8x16)[2]) {
    raw_i8x16[0] = wasm_v128_load(block.q);
    raw_i8x16[1] = wasm_v128_load(block.q + 16);
  }
  static void raw_i16x8(const Block& block, size_t, v128_t (&w_i16x8)[4]) {
    for (size_t i = 0; i < 4; ++i) w_i16x8[i] = wasm_i16x8_load8x8(block.q + 8 * i);
  }
  static void scales(const Block* const (&rows)[4], v128_t (&scale_f32x4)[1], v128_t (&)[1]) {
    scale_f32x4[0] = load_usual_f16x4(&rows[0]->scale, &rows[1]->scale, &rows[2]->scale, &rows[3]->scale);
  }
};

}  // namespace id2vec
