// Q4_K: 256 weights in 8 groups of 32. weight[i] = scale · s[i / 32] · q[i] − min_scale · m[i / 32].
// Byte 32c + l holds weights 64c + l (low nibble) and 64c + 32 + l (high nibble), c < 4, l < 32; s and m:
// k_scales.h.
#pragma once

#include "core/half.h"
#include "core/simd.h"
#include "formats/format.h"
#include "formats/k_scales.h"
#include "formats/nibbles.h"

namespace id2vec {

struct Q4_K {
  static constexpr std::string_view kName = "Q4_K";
  static constexpr int32_t kGgmlType = 12;
  static constexpr size_t kBlockSize = 256, kGroupSize = 32;
  static constexpr int32_t kQuantMin = 0, kQuantMax = 15;
  static constexpr bool kHasOffset = true;
  struct Block {
    uint16_t scale;
    uint16_t min_scale;
    uint8_t scales[12];
    uint8_t q[128];
  };
  static_assert(sizeof(Block) == 144);

  static constexpr int32_t quant(const Block& block, size_t i) {
    return split_nibble<32>(block.q + i / 64 * 32, i % 64);
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    const ScaleAndMin packed = k_scale_and_min(block.scales, group);
    return {f16_to_float(block.scale) * float(packed.scale),
            -(f16_to_float(block.min_scale) * float(packed.min))};
  }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q4_K>(block, i); }

  static constexpr int32_t kZero = 0;
  static constexpr size_t kUnroll = 2;
  static void raw(const Block& block, size_t group, v128_t (&raw_i8x16)[2]) {
    for (size_t i = 0; i < 2; ++i) {
      raw_i8x16[i] = bits_of<4>(wasm_v128_load(block.q + group / 2 * 32 + 16 * i), group % 2 * 4);
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
