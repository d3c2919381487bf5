// BF16: the upper 16 bits of a float.
#pragma once

#include "core/half.h"
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
};

}  // namespace id2vec
