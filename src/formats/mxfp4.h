// MXFP4 (OCP microscaling): 32 E2M1 numbers share a power of two. weight[i] = 2^(exponent − 127) ·
// e2m1[nibble[i]]. q is twice the E2M1 number, so the scale is 2^(exponent − 128). Low nibbles of q[0…15] are
// weights 0…15, high nibbles are weights 16…31.
#pragma once

#include "core/half.h"
#include "core/simd.h"
#include "formats/format.h"
#include "formats/nibbles.h"

namespace id2vec {

struct MXFP4 {
  static constexpr std::string_view kName = "MXFP4";
  static constexpr int32_t kGgmlType = 39;
  static constexpr size_t kBlockSize = 32, kGroupSize = 32;
  static constexpr int32_t kQuantMin = -12, kQuantMax = 12;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint8_t exponent;
    uint8_t q[16];
  };
  static_assert(sizeof(Block) == 17);

  static constexpr int32_t quant(const Block& block, size_t i) {
    return kE2m1Doubled[split_nibble<16>(block.q, i)];
  }
  static constexpr Affine affine(const Block& block, size_t) {
    return {e8m0_half_to_float(block.exponent), 0};
  }
  static constexpr float value(const Block& block, size_t i) { return group_value<MXFP4>(block, i); }

  static constexpr int32_t kZero = 12;
  static void raw(const Block& block, size_t, v128_t (&raw_i8x16)[2]) {
    split_nibbles(wasm_v128_load(block.q), raw_i8x16);
    for (v128_t& nibbles : raw_i8x16) nibbles = levels_of(kE2m1Raised, nibbles);
  }
  static void scales(const Block* const (&rows)[4], v128_t (&scale_f32x4)[1], v128_t (&)[1]) {
    scale_f32x4[0] = e8m0_half_to_f32x4(
        wasm_i32x4_make(rows[0]->exponent, rows[1]->exponent, rows[2]->exponent, rows[3]->exponent));
  }
};

}  // namespace id2vec
