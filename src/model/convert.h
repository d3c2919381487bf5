// Float tables that a file stores in another order than [V, d] row by row: transposed, Fortran-order, other strides,
// or byte-swapped. They are converted piece by piece while they stream in, each element straight to its final place.
#pragma once

#include "core/bytes.h"

namespace id2vec {

// Element (r, c) of the table is the stored element r · row_stride + c · col_stride, counted from the first stored
// byte. The two axes must nest: the longer stride covers the whole extent of the shorter one.
struct StridedLayout {
  uint64_t rows = 0, cols = 0;
  uint64_t row_stride = 0, col_stride = 0;  // in elements
  uint32_t element_bytes = 0;               // 1, 2, 4 or 8
  bool swap_bytes = false;

  // Here, and not in convert.cpp, because headers of every container ask it: see EXTRA_SOURCES in cmake/wasm.cmake.
  bool nests() const {
    const bool known_size =
        element_bytes == 1 || element_bytes == 2 || element_bytes == 4 || element_bytes == 8;
    if (row_stride == 0 || col_stride == 0 || !known_size) return false;
    return row_stride >= col_stride ? cols <= (row_stride - 1) / col_stride + 1 || rows <= 1
                                    : rows <= (col_stride - 1) / row_stride + 1 || cols <= 1;
  }
};

// Writes the stored bytes [at, at + chunk.size()) to their places in `table` (rows · cols elements, row-major).
// Chunks may come in any order and be cut anywhere, also inside of an element.
void scatter(const StridedLayout& layout, uint64_t at, Bytes chunk, uint8_t* table);

// True if that many stored bytes are what `table` already holds at their places.
bool already_there(const StridedLayout& layout, uint64_t at, Bytes chunk, const uint8_t* table);

// Integers of `bits` bits (2 or 4), `per_row` of them for each row, that a file packs into one stream over all rows. In
// a table each row of them starts at a byte.
struct PackedRows {
  uint64_t rows = 0, per_row = 0;
  uint32_t bits = 0;
};

// As scatter and already_there: stored bytes [at, at + chunk.size()) of the stream, and the plane of a table.
void spread(const PackedRows& packed, uint64_t at, Bytes chunk, uint8_t* plane);
bool already_spread(const PackedRows& packed, uint64_t at, Bytes chunk, const uint8_t* plane);

// MXFP4 whose parts lie apart in the file (MLX): codes two in a byte, consecutive, the low nibble first, 16 bytes for a
// block; exponents one byte for a block. `blocks`: the table, in the layout of formats/mxfp4.h.
void put_mxfp4_codes(uint64_t at, Bytes chunk, uint8_t* blocks);
void put_mxfp4_exponents(uint64_t at, Bytes chunk, uint8_t* blocks);
bool holds_mxfp4_codes(uint64_t at, Bytes chunk, const uint8_t* blocks);
bool holds_mxfp4_exponents(uint64_t at, Bytes chunk, const uint8_t* blocks);

}  // namespace id2vec
