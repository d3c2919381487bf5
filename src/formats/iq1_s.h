// IQ1_S: 256 weights in 8 groups of 32; runs of 8 weights are rows of a ternary grid of 2048 rows
// (iq_grids.h). weight[i] = scale · (2 · s + 1) · (grid[…] ± 1/8). Here q = 8 · grid ± 1 and the scale is
// divided by 8, both exact. Row number of run r = i / 8: low[r], and above it bits 3(r % 4) … of high[g], g =
// i / 32. Bits 12…14 of high[g] are s; bit 15 chooses −1/8.
#pragma once

#include "core/half.h"
#include "formats/format.h"
#include "formats/iq_grids.h"

namespace id2vec {

struct IQ1_S {
  static constexpr std::string_view kName = "IQ1_S";
  static constexpr int32_t kGgmlType = 19;
  static constexpr size_t kBlockSize = 256, kGroupSize = 32;
  static constexpr int32_t kQuantMin = -9, kQuantMax = 9;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint16_t scale;
    uint8_t low[32];
    uint16_t high[8];
  };
  static_assert(sizeof(Block) == 50);

  static int32_t quant(const Block& block, size_t i) {
    const size_t run = i / 8;
    const uint32_t high = block.high[i / 32];
    const uint32_t row = block.low[run] | (high >> (run % 4 * 3) & 7) << 8;
    return 8 * iq1_level(iq1_s_row(row), i % 8) + ((high & 0x8000) != 0 ? -1 : 1);
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    const int32_t step = 2 * (block.high[group] >> 12 & 7) + 1;
    return {f16_to_float(block.scale) * float(step) * 0.125f, 0};
  }
  static float value(const Block& block, size_t i) { return group_value<IQ1_S>(block, i); }
};

}  // namespace id2vec
