// IQ1_M: 256 weights in 16 groups of 16; runs of 8 weights are rows of a ternary grid of 2048 rows
// (iq_grids.h). weight[i] = scale · (2 · s[i / 16] + 1) · (grid[…] ± 1/8). Here q = 8 · grid ± 1 and the
// scale is divided by 8. Nibble r = i / 8 of `high`: the upper 3 bits of the run's row number, whose low 8
// bits are low[r], and a top bit that chooses −1/8. scales: four 16-bit numbers; their top nibbles together
// are the f16 scale, from the low nibble up; the 12 bits below are four 3-bit s each.
#pragma once

#include "core/half.h"
#include "formats/format.h"
#include "formats/iq_grids.h"

namespace id2vec {

struct IQ1_M {
  static constexpr std::string_view kName = "IQ1_M";
  static constexpr int32_t kGgmlType = 29;
  static constexpr size_t kBlockSize = 256, kGroupSize = 16;
  static constexpr int32_t kQuantMin = -9, kQuantMax = 9;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint8_t low[32];
    uint8_t high[16];
    uint16_t scales[4];
  };
  static_assert(sizeof(Block) == 56);

  static int32_t quant(const Block& block, size_t i) {
    const size_t run = i / 8;
    const uint32_t high = block.high[run / 2] >> (run % 2 * 4) & 15;
    const uint32_t row = block.low[run] | (high & 7) << 8;
    return 8 * iq1_level(iq1_s_row(row), i % 8) + ((high & 8) != 0 ? -1 : 1);
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    uint32_t scale = 0;
    for (size_t n = 0; n < 4; ++n) scale |= uint32_t(block.scales[n] >> 12) << (n * 4);
    const int32_t step = 2 * (block.scales[group / 4] >> (group % 4 * 3) & 7) + 1;
    return {f16_to_float(uint16_t(scale)) * float(step) * 0.125f, 0};
  }
  static float value(const Block& block, size_t i) { return group_value<IQ1_M>(block, i); }
};

}  // namespace id2vec
