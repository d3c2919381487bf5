// Q5_K: Q4_K with a fifth bit. weight[i] = scale · s[i / 32] · q[i] − min_scale · m[i / 32].
// The fifth bit of weight i is bit i / 32 of high[i % 32].
#pragma once

#include "core/half.h"
#include "core/simd.h"
#include "formats/format.h"
#include "formats/k_scales.h"
#include "formats/nibbles.h"

namespace id2vec {

struct Q5_K {
  static constexpr std::string_view kName = "Q5_K";
  static constexpr int32_t kGgmlType = 13;
  static constexpr size_t kBlockSize = 256, kGroupSize = 32;
  static constexpr int32_t kQuantMin = 0, kQuantMax = 31;
  static constexpr bool kHasOffset = true;
  struct Block {
    uint16_t scale;
    uint16_t min_scale;
    uint8_t scales[12];
    uint8_t high[32];
    uint8_t low[128];
  };
  static_assert(sizeof(Block) == 176);

  static constexpr int32_t quant(const Block& block, size_t i) {
    const int32_t fifth = block.high[i % 32] >> i / 32 & 1;
    return split_nibble<32>(block.low + i / 64 * 32, i % 64) | fifth << 4;
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    const ScaleAndMin packed = k_scale_and_min(block.scales, group);
    return {f16_to_float(block.scale) * float(packed.scale),
            -(f16_to_float(block.min_scale) * float(packed.min))};
  }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q5_K>(block, i); }

  static constexpr int32_t kZero = 0;
  static constexpr size_t kUnroll = 2;
  static void raw(const Block& block, size_t group, v128_t (&raw_i8x16)[2]) {
    for (size_t i = 0; i < 2; ++i) {
      const v128_t low = bits_of<4>(wasm_v128_load(block.low + group / 2 * 32 + 16 * i), group % 2 * 4);
      const v128_t fifth = wasm_i16x8_shl(bits_of<1>(wasm_v128_load(block.high + 16 * i), group), 4);
      raw_i8x16[i] = wasm_v128_or(low, fifth);
    }
  }
  static void scales(const Block* const (&rows)[4], v128_t (&scale_f32x4)[8], v128_t (&offset_f32x4)[8]) {
    const v128_t scale = load_f16x4(&rows[0]->scale, &rows[1]->scale, &rows[2]->scale, &rows[3]->scale);
    const v128_t minus_min_scale = wasm_f32x4_neg(
        load_f16x4(&rows[0]->min_scale, &rows[1]->min_scale, &rows[2]->min_scale, &rows[3]->min_scale));
    const uint8_t* const packed[4] = {rows[0]->scales, rows[1]->scales, rows[2]->scales, rows[3]->scales};
    v128_t scales_u8x16[2], mins_u8x16[2];
    k_scales_and_mins(packed, scales_u8x16, mins_u8x16);
    for (size_t g = 0; g < 8; ++g) {
      scale_f32x4[g] = wasm_f32x4_mul(scale, byte_to_f32x4(scales_u8x16[g / 4], g % 4));
      offset_f32x4[g] = wasm_f32x4_mul(minus_min_scale, byte_to_f32x4(mins_u8x16[g / 4], g % 4));
    }
  }
};

}  // namespace id2vec
