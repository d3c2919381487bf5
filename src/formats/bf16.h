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

  static void load8(const Block* blocks, v128_t (&w_f32x4)[2]) {
    w_f32x4[0] = wasm_i32x4_shl(wasm_u32x4_load16x4(blocks), 16);
    w_f32x4[1] = wasm_i32x4_shl(wasm_u32x4_load16x4(blocks + 4), 16);
  }
};

}  // namespace id2vec
