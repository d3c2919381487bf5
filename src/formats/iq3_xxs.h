// IQ3_XXS: 256 weights in 8 groups of 32; runs of 4 weights are rows of a grid of 256 rows (iq_grids.h), with
// signs. weight[i] = scale · (0.5 + s[i / 32]) / 2 · sign[i] · grid[…]. q[i / 4] is the row number.
// signs_and_scales[g], 32 bits each: 7 sign bits per 8 weights from the low bits up, and s in the upper 4.
// The eighth sign makes the number of minus signs even.
#pragma once

#include "core/half.h"
#include "formats/format.h"
#include "formats/iq_grids.h"

namespace id2vec {

struct IQ3_XXS {
  static constexpr std::string_view kName = "IQ3_XXS";
  static constexpr int32_t kGgmlType = 18;
  static constexpr size_t kBlockSize = 256, kGroupSize = 32;
  static constexpr int32_t kQuantMin = -62, kQuantMax = 62;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint16_t scale;
    uint8_t q[64];
    uint16_t signs_and_scales[16];  // halves of 32-bit numbers, which would need a wider alignment
  };
  static_assert(sizeof(Block) == 98);

  static int32_t quant(const Block& block, size_t i) {
    const uint32_t signs = even_signs(signs_and_scale(block, i / 32) >> (i % 32 / 8 * 7) & 127);
    return with_sign(iq3_xxs_level(iq3_xxs_row(block.q[i / 4]), i % 4), signs, i % 8);
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    const float step = 0.5f + float(signs_and_scale(block, group) >> 28);
    return {f16_to_float(block.scale) * step * 0.5f, 0};
  }
  static float value(const Block& block, size_t i) { return group_value<IQ3_XXS>(block, i); }

 private:
  static constexpr uint32_t signs_and_scale(const Block& block, size_t group) {
    return block.signs_and_scales[group * 2] | uint32_t(block.signs_and_scales[group * 2 + 1]) << 16;
  }
};

}  // namespace id2vec
