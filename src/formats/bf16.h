// BF16: the upper 16 bits of a float.
#pragma once

#include "core/half.h"
#include "core/simd.h"
#include "formats/format.h"

namespace id2vec {

struct BF16 {
  static constexpr std::string_view kName = "BF16";
  static constexpr int32_t kGgmlType = 30;
  static constexpr size_t kBlockSize = 1;
  struct Block {
    uint16_t bits;
  };
  static_assert(sizeof(Block) == 2);

  static constexpr float value(const Block& block, size_t) { return bf16_to_float(block.bits); }

  static v128_t load4(const Block* blocks) { return wasm_i32x4_shl(wasm_u32x4_load16x4(blocks), 16); }
};

}  // namespace id2vec
