// IQ4_XS: 256 weights in 8 groups of 32. weight[i] = scale · (s[i / 32] − 32) · level[nibble[i]], levels of
// IQ4_NL. The 6-bit s[g]: low 4 bits in nibble g of scales_low, upper 2 bits in bit pair g of scales_high.
// Each group's 16 bytes hold its nibbles as IQ4_NL does.
#pragma once

#include "core/half.h"
#include "core/simd.h"
#include "formats/format.h"
#include "formats/nibbles.h"

namespace id2vec {

struct IQ4_XS {
  static constexpr std::string_view kName = "IQ4_XS";
  static constexpr int32_t kGgmlType = 23;
  static constexpr size_t kBlockSize = 256, kGroupSize = 32;
  static constexpr int32_t kQuantMin = -127, kQuantMax = 113;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint16_t scale;
    uint16_t scales_high;
    uint8_t scales_low[4];
    uint8_t q[128];
  };
  static_assert(sizeof(Block) == 136);

  static constexpr int32_t quant(const Block& block, size_t i) {
    return kIq4Levels[split_nibble<16>(block.q + i / 32 * 16, i % 32)];
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    const int32_t low = block.scales_low[group / 2] >> (group % 2 * 4) & 15;
    const int32_t high = block.scales_high >> (group * 2) & 3;
    return {f16_to_float(block.scale) * float((low | high << 4) - 32), 0};
  }
  static constexpr float value(const Block& block, size_t i) { return group_value<IQ4_XS>(block, i); }

  static constexpr int32_t kZero = 127;
  static void raw(const Block& block, size_t group, v128_t (&raw_i8x16)[2]) {
    split_nibbles(wasm_v128_load(block.q + 16 * group), raw_i8x16);
    for (v128_t& nibbles : raw_i8x16) nibbles = levels_of(kIq4Raised, nibbles);
  }
  static void scales(const Block* const (&rows)[4], v128_t (&scale_f32x4)[8], v128_t (&)[8]) {
    const v128_t scale = load_f16x4(&rows[0]->scale, &rows[1]->scale, &rows[2]->scale, &rows[3]->scale);
    const v128_t high = load_shorts(&rows[0]->scales_high, &rows[1]->scales_high, &rows[2]->scales_high,
                                    &rows[3]->scales_high);
    const v128_t low =
        load_words(rows[0]->scales_low, rows[1]->scales_low, rows[2]->scales_low, rows[3]->scales_low);
    for (size_t g = 0; g < 8; ++g) {
      const v128_t low_4 = wasm_v128_and(wasm_u32x4_shr(low, 4 * g), wasm_i32x4_splat(15));
      const v128_t high_2 = wasm_v128_and(wasm_u32x4_shr(high, 2 * g), wasm_i32x4_splat(3));
      const v128_t six = wasm_v128_or(low_4, wasm_i32x4_shl(high_2, 4));
      const v128_t less_32 = wasm_i32x4_sub(six, wasm_i32x4_splat(32));
      scale_f32x4[g] = wasm_f32x4_mul(scale, wasm_f32x4_convert_i32x4(less_32));
    }
  }
};

}  // namespace id2vec
