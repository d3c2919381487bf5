// What code that serves all packed formats has to know about one of them.
#pragma once

#include "kernels/v128_activations.h"
#include "kernels/v128_stretch.h"

namespace id2vec::v128 {

struct Packing;

// All rows times one vector, which was prepared as `layout` says.
using DotOne = void (*)(const Packing& packing, const TableView& table, const RowSet& rows,
                        const TileLayout& layout, const uint8_t* tile, float* out);

// A stretch times a tile of one quad or two, added to sums[row][quad]: see v128_tiles.h.
using AddRows = void (*)(const Stretch& stretch, size_t n_groups, size_t group_size, const TileView& tile,
                         v128_t (*sums)[2]);

// How hidden vectors are met at one precision.
struct Method {
  Encoding one, several;
  AddRows add_one_quad, add_two_quads;
};

struct Packing {
  LoadStretch load;
  DotOne dot_one;     // dot_one_unpacked for rare formats
  uint32_t group_size;
  int32_t zero;       // kStretchZero
  bool has_offset;
  Method methods[2];  // high, fast

  const Method& method(Precision precision) const { return methods[precision == Precision::kFast]; }
  // Of a tile that takes in `vectors` vectors, or eight of more.
  TileLayout layout(uint32_t cols, size_t vectors, Precision precision) const {
    const Encoding encoding = vectors == 1 ? method(precision).one : method(precision).several;
    return {tile_width(vectors), cols / group_size, group_size * bytes_of(encoding), encoding};
  }
};

inline const Packing& packing_of(const FormatKernels& format) {
  return *static_cast<const Packing*>(format.details);
}

}  // namespace id2vec::v128
