// IQ2_S: 256 weights in 16 groups of 16; runs of 8 weights are rows of a grid of 1024 rows (iq_grids.h), with
// signs. weight[i] = scale · (0.5 + s[i / 16]) / 4 · sign[i] · grid[…]. Row number of run r = i / 8: low[r],
// and above it bit pair r % 4 of high[r / 4]; its signs are the bits of signs[r]. s[g] is nibble g of
// `scales`.
#pragma once

#include "core/half.h"
#include "formats/format.h"
#include "formats/iq_grids.h"

namespace id2vec {

struct IQ2_S {
  static constexpr std::string_view kName = "IQ2_S";
  static constexpr int32_t kGgmlType = 22;
  static constexpr size_t kBlockSize = 256, kGroupSize = 16;
  static constexpr int32_t kQuantMin = -43, kQuantMax = 43;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint16_t scale;
    uint8_t low[32];
    uint8_t signs[32];
    uint8_t high[8];
    uint8_t scales[8];
  };
  static_assert(sizeof(Block) == 82);

  static int32_t quant(const Block& block, size_t i) {
    const size_t run = i / 8;
    const uint32_t row = block.low[run] | (uint32_t(block.high[run / 4]) >> (run % 4 * 2) & 3) << 8;
    return with_sign(iq2_level(iq2_s_row(row), i % 8), block.signs[run], i % 8);
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    const float step = 0.5f + float(block.scales[group / 2] >> (group % 2 * 4) & 15);
    return {f16_to_float(block.scale) * step * 0.25f, 0};
  }
  static float value(const Block& block, size_t i) { return group_value<IQ2_S>(block, i); }
};

}  // namespace id2vec
