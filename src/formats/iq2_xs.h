// IQ2_XS: 256 weights in 16 groups of 16; runs of 8 weights are rows of a grid of 512 rows (iq_grids.h), with
// signs. weight[i] = scale · (0.5 + s[i / 16]) / 4 · sign[i] · grid[…]. q[i / 8]: row number in the low 9
// bits, 7 sign bits above; the eighth sign makes the number of minus signs even. s[g] is nibble g of
// `scales`.
#pragma once

#include "core/half.h"
#include "formats/format.h"
#include "formats/iq_grids.h"

namespace id2vec {

struct IQ2_XS {
  static constexpr std::string_view kName = "IQ2_XS";
  static constexpr int32_t kGgmlType = 17;
  static constexpr size_t kBlockSize = 256, kGroupSize = 16;
  static constexpr int32_t kQuantMin = -43, kQuantMax = 43;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint16_t scale;
    uint16_t q[32];
    uint8_t scales[8];
  };
  static_assert(sizeof(Block) == 74);

  static int32_t quant(const Block& block, size_t i) {
    const uint32_t packed = block.q[i / 8];
    return with_sign(iq2_level(iq2_xs_row(packed & 511), i % 8), even_signs(packed >> 9), i % 8);
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    const float step = 0.5f + float(block.scales[group / 2] >> (group % 2 * 4) & 15);
    return {f16_to_float(block.scale) * step * 0.25f, 0};
  }
  static float value(const Block& block, size_t i) { return group_value<IQ2_XS>(block, i); }
};

}  // namespace id2vec
