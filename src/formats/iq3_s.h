// IQ3_S: 256 weights in 8 groups of 32; runs of 4 weights are rows of a grid of 512 rows (iq_grids.h), with
// signs. weight[i] = scale · (1 + 2 · s[i / 32]) · sign[i] · grid[…]. Row number of run r = i / 4: low[r],
// and above it bit r % 8 of high[r / 8]. Sign i is bit i % 8 of signs[i / 8]. s[g] is nibble g of `scales`.
#pragma once

#include "core/half.h"
#include "formats/format.h"
#include "formats/iq_grids.h"

namespace id2vec {

struct IQ3_S {
  static constexpr std::string_view kName = "IQ3_S";
  static constexpr int32_t kGgmlType = 21;
  static constexpr size_t kBlockSize = 256, kGroupSize = 32;
  static constexpr int32_t kQuantMin = -15, kQuantMax = 15;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint16_t scale;
    uint8_t low[64];
    uint8_t high[8];
    uint8_t signs[32];
    uint8_t scales[4];
  };
  static_assert(sizeof(Block) == 110);

  static int32_t quant(const Block& block, size_t i) {
    const size_t run = i / 4;
    const uint32_t row = block.low[run] | (uint32_t(block.high[run / 8]) >> run % 8 & 1) << 8;
    return with_sign(iq3_s_level(iq3_s_row(row), i % 4), block.signs[i / 8], i % 8);
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    const int32_t step = 1 + 2 * (block.scales[group / 2] >> (group % 2 * 4) & 15);
    return {f16_to_float(block.scale) * float(step), 0};
  }
  static float value(const Block& block, size_t i) { return group_value<IQ3_S>(block, i); }
};

}  // namespace id2vec
