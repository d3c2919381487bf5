// F64: IEEE 754 double precision, rounded to the nearest float when it is read.
#pragma once

#include "formats/format.h"

namespace id2vec {

struct F64 {
  static constexpr std::string_view kName = "F64";
  static constexpr int32_t kGgmlType = 28;
  static constexpr size_t kBlockSize = 1;
  struct Block {
    double value;
  };
  static_assert(sizeof(Block) == 8);

  static constexpr float value(const Block& block, size_t) { return float(block.value); }
};

}  // namespace id2vec
