// F8_E5M2: the upper half of an F16; layout in core/half.h.
#pragma once

#include "core/half.h"
#include "formats/format.h"

namespace id2vec {

struct F8_E5M2 {
  static constexpr std::string_view kName = "F8_E5M2";
  static constexpr int32_t kGgmlType = -1;
  static constexpr size_t kBlockSize = 1;
  struct Block {
    uint8_t bits;
  };
  static_assert(sizeof(Block) == 1);

  static constexpr float value(const Block& block, size_t) { return f8_e5m2_to_float(block.bits); }
};

}  // namespace id2vec
