// F16: IEEE 754 half precision; layout in core/half.h.
#pragma once

#include "core/half.h"
#include "core/simd.h"
#include "formats/format.h"

namespace id2vec {

struct F16 {
  static constexpr std::string_view kName = "F16";
  static constexpr int32_t kGgmlType = 1;
  static constexpr size_t kBlockSize = 1;
  struct Block {
    uint16_t bits;
  };
  static_assert(sizeof(Block) == 2);

  static constexpr float value(const Block& block, size_t) { return f16_to_float(block.bits); }

  static void load8(const Block* blocks, v128_t (&w_f32x4)[2]) {
    const v128_t half_i16x8 = wasm_v128_load(blocks);
    if (wasm_v128_any_true(f16x8_extremes(half_i16x8))) {
      w_f32x4[0] = f16_to_f32x4(wasm_u32x4_load16x4(blocks));
      w_f32x4[1] = f16_to_f32x4(wasm_u32x4_load16x4(blocks + 4));
    } else {
      normal_f16x8_to_f32x4(half_i16x8, w_f32x4[0], w_f32x4[1]);
    }
  }

  // Asks once for all 32; false where there is an extreme among them.
  static bool load32(const Block* blocks, v128_t (&w_f32x4)[8]) {
    v128_t half_i16x8[4];
    for (size_t i = 0; i < 4; ++i) half_i16x8[i] = wasm_v128_load(blocks + 8 * i);
    v128_t extremes = f16x8_extremes(half_i16x8[0]);
    for (size_t i = 1; i < 4; ++i) extremes = wasm_v128_or(extremes, f16x8_extremes(half_i16x8[i]));
    if (wasm_v128_any_true(extremes)) return false;
    for (size_t i = 0; i < 4; ++i) normal_f16x8_to_f32x4(half_i16x8[i], w_f32x4[2 * i], w_f32x4[2 * i + 1]);
    return true;
  }
};

}  // namespace id2vec
