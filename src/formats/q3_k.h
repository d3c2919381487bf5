// Q3_K: 256 weights in 16 groups of 16. weight[i] = scale · (s[i / 16] − 32) · q[i], q in −4…3.
// q + 4 has its low two bits laid out as in Q2_K, and its third bit is bit i / 32 of high[i % 32].
// The 6-bit s[g]: low 4 bits in nibble g / 8 of scales[g % 8], upper 2 in bit pair g / 4 of scales[8 + g % 4].
#pragma once

#include "core/half.h"
#include "core/simd.h"
#include "formats/format.h"
#include "formats/nibbles.h"

namespace id2vec {

struct Q3_K {
  static constexpr std::string_view kName = "Q3_K";
  static constexpr int32_t kGgmlType = 11;
  static constexpr size_t kBlockSize = 256, kGroupSize = 16;
  static constexpr int32_t kQuantMin = -4, kQuantMax = 3;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint8_t high[32];
    uint8_t low[64];
    uint8_t scales[12];
    uint16_t scale;
  };
  static_assert(sizeof(Block) == 110);

  static constexpr int32_t quant(const Block& block, size_t i) {
    const int32_t low = block.low[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
    const int32_t third = block.high[i % 32] >> i / 32 & 1;
    return (low | third << 2) - 4;
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    const int32_t low = block.scales[group % 8] >> (group / 8 * 4) & 15;
    const int32_t high = block.scales[8 + group % 4] >> (group / 4 * 2) & 3;
    return {f16_to_float(block.scale) * float((low | high << 4) - 32), 0};
  }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q3_K>(block, i); }

  static constexpr int32_t kZero = 4;
  static constexpr bool kRare = true;
  static constexpr size_t kUnroll = 8;
  static void raw(const Block& block, size_t group, v128_t (&raw_i8x16)[1]) {
    const v128_t low = wasm_v128_load(block.low + group / 8 * 32 + group % 2 * 16);
    const v128_t third = bits_moved<1, 2>(wasm_v128_load(block.high + group % 2 * 16), group / 2);
    raw_i8x16[0] = wasm_v128_or(bits_of<2>(low, group % 8 / 2 * 2), third);
  }
  static void scales(const Block* const (&rows)[4], v128_t (&scale_f32x4)[16], v128_t (&)[16]) {
    const v128_t scale = load_f16x4(&rows[0]->scale, &rows[1]->scale, &rows[2]->scale, &rows[3]->scale);
    v128_t words[3];
    for (size_t i = 0; i < 3; ++i) {
      words[i] = load_words(rows[0]->scales + 4 * i, rows[1]->scales + 4 * i, rows[2]->scales + 4 * i,
                            rows[3]->scales + 4 * i);
    }
    for (size_t g = 0; g < 16; ++g) {
      const v128_t low = bits_of<4>(words[g / 4 % 2], g / 8 * 4);
      const v128_t six = wasm_v128_or(low, wasm_i16x8_shl(bits_of<2>(words[2], g / 4 * 2), 4));
      const v128_t less_32 = wasm_f32x4_sub(byte_to_f32x4(six, g % 4), wasm_f32x4_splat(32));
      scale_f32x4[g] = wasm_f32x4_mul(scale, less_32);
    }
  }
};

}  // namespace id2vec
