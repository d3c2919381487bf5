// IQ2_XXS: 256 weights in 8 groups of 32; runs of 8 weights are rows of a grid of 256 rows (iq_grids.h), with
// signs. weight[i] = scale · (0.5 + s[i / 32]) / 4 · sign[i] · grid[…]. A group is 8 bytes: four row numbers
// (one byte per run), then 32 bits: 7 sign bits per run from the low bits up, and s in the upper 4. The
// eighth sign makes the number of minus signs even.
#pragma once

#include "core/half.h"
#include "formats/format.h"
#include "formats/iq_grids.h"

namespace id2vec {

struct IQ2_XXS {
  static constexpr std::string_view kName = "IQ2_XXS";
  static constexpr int32_t kGgmlType = 16;
  static constexpr size_t kBlockSize = 256, kGroupSize = 32;
  static constexpr int32_t kQuantMin = -43, kQuantMax = 43;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint16_t scale;
    uint16_t q[32];
  };
  static_assert(sizeof(Block) == 66);

  static int32_t quant(const Block& block, size_t i) {
    const size_t run = i % 32 / 8;
    const uint16_t* group = block.q + i / 32 * 4;
    const uint32_t row = group[run / 2] >> (run % 2 * 8) & 255;
    return with_sign(iq2_level(iq2_xxs_row(row), i % 8),
                     even_signs(signs_and_scale(group) >> (run * 7) & 127), i % 8);
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    const float step = 0.5f + float(signs_and_scale(block.q + group * 4) >> 28);
    return {f16_to_float(block.scale) * step * 0.25f, 0};
  }
  static float value(const Block& block, size_t i) { return group_value<IQ2_XXS>(block, i); }

 private:
  static constexpr uint32_t signs_and_scale(const uint16_t* group) {
    return group[2] | uint32_t(group[3]) << 16;
  }
};

}  // namespace id2vec
