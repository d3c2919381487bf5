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

  static v128_t load4(const Block* blocks) { return f16_to_f32x4(wasm_u32x4_load16x4(blocks)); }
};

}  // namespace id2vec
