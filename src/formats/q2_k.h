// Q2_K: 256 weights in 16 groups of 16. weight[i] = scale · (s & 15) · q[i] − min_scale · (s >> 4), s =
// scales[i / 16]. Two bits per weight: byte 32h + l holds weights 128h + l + {0, 32, 64, 96}, from its low
// bits up (h < 2, l < 32).
#pragma once

#include "core/half.h"
#include "core/simd.h"
#include "formats/format.h"
#include "formats/nibbles.h"

namespace id2vec {

struct Q2_K {
  static constexpr std::string_view kName = "Q2_K";
  static constexpr int32_t kGgmlType = 10;
  static constexpr size_t kBlockSize = 256, kGroupSize = 16;
  static constexpr int32_t kQuantMin = 0, kQuantMax = 3;
  static constexpr bool kHasOffset = true;
  struct Block {
    uint8_t scales[16];
    uint8_t q[64];
    uint16_t scale;
    uint16_t min_scale;
  };
  static_assert(sizeof(Block) == 84);

  static constexpr int32_t quant(const Block& block, size_t i) {
    return block.q[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    const uint8_t packed = block.scales[group];
    return {f16_to_float(block.scale) * float(packed & 15),
            -(f16_to_float(block.min_scale) * float(packed >> 4))};
  }
  static constexpr float value(const Block& block, size_t i) { return group_value<Q2_K>(block, i); }

  static constexpr int32_t kZero = 0;
  static constexpr bool kRare = true;
  static constexpr size_t kUnroll = 8;
  static void raw(const Block& block, size_t group, v128_t (&raw_i8x16)[1]) {
    const v128_t bytes = wasm_v128_load(block.q + group / 8 * 32 + group % 2 * 16);
    raw_i8x16[0] = bits_of<2>(bytes, group % 8 / 2 * 2);
  }
  static void scales(const Block* const (&rows)[4], v128_t (&scale_f32x4)[16], v128_t (&offset_f32x4)[16]) {
    const v128_t scale = load_f16x4(&rows[0]->scale, &rows[1]->scale, &rows[2]->scale, &rows[3]->scale);
    const v128_t minus_min_scale = wasm_f32x4_neg(
        load_f16x4(&rows[0]->min_scale, &rows[1]->min_scale, &rows[2]->min_scale, &rows[3]->min_scale));
    v128_t packed[4];
    transpose_words(rows[0]->scales, rows[1]->scales, rows[2]->scales, rows[3]->scales, packed);
    for (size_t g = 0; g < 16; ++g) {
      const v128_t low = bits_of<4>(packed[g / 4], 0), high = bits_of<4>(packed[g / 4], 4);
      scale_f32x4[g] = wasm_f32x4_mul(scale, byte_to_f32x4(low, g % 4));
      offset_f32x4[g] = wasm_f32x4_mul(minus_min_scale, byte_to_f32x4(high, g % 4));
    }
  }
};

}  // namespace id2vec
