// F16: IEEE 754 half precision; layout in core/half.h.
#pragma once

#include "core/half.h"
#include "core/simd.h"
#include "formats/format.h"

namespace id2vec {

struct F16 {
  static constexpr std::string_view kName = "F16";
  static constexpr int32_t kGgmlType = 1;
  static constexpr size_t kBlockSize = 1;
  struct Block {
    uint16_t bits;
  };
  static_assert(sizeof(Block) == 2);

  static constexpr float value(const Block& block, size_t) { return f16_to_float(block.bits); }

  static void load8(const Block* blocks, v128_t (&w_f32x4)[2]) {
    if (f16x8_has_extremes(wasm_v128_load(blocks))) {
      w_f32x4[0] = f16_to_f32x4(wasm_u32x4_load16x4(blocks));
      w_f32x4[1] = f16_to_f32x4(wasm_u32x4_load16x4(blocks + 4));
    } else {
      w_f32x4[0] = normal_f16_to_f32x4(wasm_i32x4_load16x4(blocks));
      w_f32x4[1] = normal_f16_to_f32x4(wasm_i32x4_load16x4(blocks + 4));
    }
  }
};

}  // namespace id2vec
