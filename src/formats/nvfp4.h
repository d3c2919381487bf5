// NVFP4: 64 E2M1 numbers in 4 groups of 16, each with a UE4M3 scale. weight[i] = scales[i / 16] ·
// e2m1[nibble[i]]. q is twice the E2M1 number, so the scale is halved. In a group's 8 bytes the low nibbles
// are weights 0…7, the high nibbles weights 8…15. A scale for the whole tensor, where a model has one, is a
// tensor of its own.
#pragma once

#include "core/half.h"
#include "formats/format.h"
#include "formats/nibbles.h"

namespace id2vec {

struct NVFP4 {
  static constexpr std::string_view kName = "NVFP4";
  static constexpr int32_t kGgmlType = 40;
  static constexpr size_t kBlockSize = 64, kGroupSize = 16;
  static constexpr int32_t kQuantMin = -12, kQuantMax = 12;
  static constexpr bool kHasOffset = false;
  struct Block {
    uint8_t scales[4];
    uint8_t q[32];
  };
  static_assert(sizeof(Block) == 36);

  static constexpr int32_t quant(const Block& block, size_t i) {
    return kE2m1Doubled[split_nibble<8>(block.q + i / 16 * 8, i % 16)];
  }
  static constexpr Affine affine(const Block& block, size_t group) {
    return {ue4m3_to_float(block.scales[group]) * 0.5f, 0};
  }
  static constexpr float value(const Block& block, size_t i) { return group_value<NVFP4>(block, i); }
};

}  // namespace id2vec
