// F32: IEEE 754 single precision.
#pragma once

#include "core/simd.h"
#include "formats/format.h"

namespace id2vec {

struct F32 {
  static constexpr std::string_view kName = "F32";
  static constexpr int32_t kGgmlType = 0;
  static constexpr size_t kBlockSize = 1;
  struct Block {
    float value;
  };
  static_assert(sizeof(Block) == 4);

  static constexpr float value(const Block& block, size_t) { return block.value; }

  static void load8(const Block* blocks, v128_t (&w_f32x4)[2]) {
    w_f32x4[0] = wasm_v128_load(blocks);
    w_f32x4[1] = wasm_v128_load(blocks + 4);
  }
};

}  // namespace id2vec
