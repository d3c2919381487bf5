// Q6_K: 256 weights in 16 groups of 16. weight[i] = scale · scales[i / 16] · q[i], q in −32…31.
// q + 32 has its low 4 bits in `low` and its upper 2 in `high`, both in two halves of 128 weights:
// low[64h + l] holds weights 128h + l (low nibble) and 128h + 64 + l (high nibble), h < 2, l < 64;
// high[32h + l] holds weights 128h + l + {0, 32, 64, 96}, from its low bits up, l < 32.
#pragma once

#include "core/half.h"
#include "core/simd.h"
#include "formats/format.h"
#include "formats/nibbles.h"

namespace id2vec {

struct Q6_K {
  static constexpr std::string_view kName = "Q6_K";
  static constexpr int32_t kGgmlType = 14;
  static constexpr size_t kBlockSize = 256, kGroupSize = 16;
  static constexpr int32_t kQuantMin = -32, kQuantMax = 31;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint8_t low[128];
    uint8_t high[64];
    int8_t scales[16];
    uint16_t scale;
  };
  static_assert(sizeof(Block) == 210);

  static constexpr int32_t quant(const Block& block, size_t i) {
    const int32_t low = split_nibble<64>(block.low + i / 128 * 64, i % 128);
    const int32_t high = block.high[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
    return (low | high << 4) - 32;
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    return {f16_to_float(block.scale) * float(block.scales[group]), 0};
  }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q6_K>(block, i); }

  static constexpr int32_t kZero = 32;
  static constexpr size_t kUnroll = 8;
  static void raw(const Block& block, size_t group, v128_t (&raw_i8x16)[1]) {
    const size_t half = group / 8, quarter = group % 8 / 2, odd = group % 2;
    const uint8_t* low = block.low + 64 * half + 32 * (quarter % 2) + 16 * odd;
    const uint8_t* high = block.high + 32 * half + 16 * odd;
    const v128_t low_4 = bits_of<4>(wasm_v128_load(low), quarter / 2 * 4);
    const v128_t high_2 = bits_moved<2, 4>(wasm_v128_load(high), quarter * 2);
    raw_i8x16[0] = wasm_v128_or(low_4, high_2);
  }
  static void scales(const Block* const (&rows)[4], v128_t (&scale_f32x4)[16], v128_t (&)[16]) {
    const v128_t scale = load_f16x4(&rows[0]->scale, &rows[1]->scale, &rows[2]->scale, &rows[3]->scale);
    v128_t scales_i8x16[4];
    transpose_words(rows[0]->scales, rows[1]->scales, rows[2]->scales, rows[3]->scales, scales_i8x16);
    for (size_t g = 0; g < 16; ++g) {
      scale_f32x4[g] = wasm_f32x4_mul(scale, signed_byte_to_f32x4(scales_i8x16[g / 4], g % 4));
    }
  }
};

}  // namespace id2vec
