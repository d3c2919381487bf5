// Dot products of weights that become floats: fused multiply-add, four rows times one vector or two rows times four.
// A FloatFormat brings `load8(blocks, w)`, eight weights from there on as two f32x4, and meets vectors straight from the
// table. It may have `load32(blocks, w)`, too: cheaper for 32 weights, but false where these are no usual ones. All else is
// decoded to floats first, piece by piece; what follows is compiled once.
#pragma once

#include <algorithm>

#include "formats/f32.h"
#include "formats/format.h"
#include "kernels/decode.h"
#include "kernels/v128_packed.h"
#include "kernels/v128_quarters.h"

namespace id2vec::v128 {

template <class F>
concept FloatFormat =
    Format<F> && F::kBlockSize == 1 &&
    requires(const typename F::Block* blocks, v128_t (&w_f32x4)[2]) { F::load8(blocks, w_f32x4); };

// sums[r][n] += the products of row r and vector n, spread over the lanes. Vectors are `stride` floats apart.
template <class Isa, FloatFormat F, size_t kRows, size_t kVectors>
void add_products(const typename F::Block* const (&rows)[kRows], const float* hidden, size_t stride,
                  uint32_t cols, v128_t (&sums)[kRows][kVectors]) {
  uint32_t i = 0;
  for (; i + 8 <= cols; i += 8) {
    v128_t w_f32x4[kRows][2];
    unrolled<kRows>([&]<size_t r>() ID2VEC_INLINE { F::load8(rows[r] + i, w_f32x4[r]); });
    unrolled<kVectors>([&]<size_t n>() ID2VEC_INLINE {
      for (size_t half = 0; half < 2; ++half) {
        const v128_t h_f32x4 = wasm_v128_load(hidden + n * stride + i + 4 * half);
        unrolled<kRows>([&]<size_t r>()
                            ID2VEC_INLINE { sums[r][n] = Isa::madd(w_f32x4[r][half], h_f32x4, sums[r][n]); });
      }
    });
  }
  for (; i < cols; ++i) {
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t n = 0; n < kVectors; ++n) {
        const v128_t zero = wasm_f32x4_splat(0);
        const float product = F::value(rows[r][i], 0) * hidden[n * stride + i];
        sums[r][n] = wasm_f32x4_add(sums[r][n], wasm_f32x4_replace_lane(zero, 0, product));
      }
    }
  }
}

// All rows times one vector; dot(four rows, sums) is the product of four.
template <class Dot>
ID2VEC_INLINE inline void for_each_four(const RowSet& rows, float* out, Dot&& dot) {
  const Quarters quarters{rows.count};
  for (size_t i = 0; i < quarters.length; ++i) {
    uint64_t four[4];
    for (size_t r = 0; r < 4; ++r) four[r] = rows[quarters.row(i, r)];
    v128_t sums[4][1] = {};
    dot(four, sums);
    quarters.store(sums_of_f32x4(sums[0][0], sums[1][0], sums[2][0], sums[3][0]), i, out);
  }
}

using DotOneFloat = void (*)(const FormatKernels& format, const TableView& table, const RowSet& rows,
                             const float* hidden, float* out);

template <class Isa, FloatFormat F>
void dot_one_float(const FormatKernels&, const TableView& table, const RowSet& rows, const float* hidden,
                   float* out) {
  for_each_four(rows, out, [&](const uint64_t(&four)[4], v128_t(&sums)[4][1]) ID2VEC_INLINE {
    const typename F::Block* blocks[4];
    for (size_t r = 0; r < 4; ++r) blocks[r] = row_blocks<F>(table, four[r]);
    add_products<Isa, F>(blocks, hidden, table.cols, table.cols, sums);
  });
}

// Pieces of some rows as floats.
template <size_t kRows>
struct Piece {
  F32::Block weights[kRows][kPiece];
  const F32::Block* rows[kRows];

  void decode(Decode decode, const TableView& table, const uint64_t (&of)[kRows], uint32_t first,
              uint32_t length) {
    for (size_t r = 0; r < kRows; ++r) {
      decode(table, of[r], first, length, &weights[r][0].value);
      rows[r] = weights[r];
    }
  }
};

template <class Isa>
void dot_one_decoded(const FormatKernels& format, const TableView& table, const RowSet& rows,
                     const float* hidden, float* out) {
  Piece<4> piece;
  for_each_four(rows, out, [&](const uint64_t(&four)[4], v128_t(&sums)[4][1]) ID2VEC_INLINE {
    for (uint32_t first = 0; first < table.cols; first += kPiece) {
      const uint32_t length = std::min(kPiece, table.cols - first);
      piece.decode(format.decode, table, four, first, length);
      add_products<Isa, F32>(piece.rows, hidden + first, table.cols, length, sums);
    }
  });
}

// All rows times some quads of vectors, two rows and one quad at a time.
using DotQuadsFloat = void (*)(const FormatKernels& format, const TableView& table, const RowSet& rows,
                               const float* hidden, size_t n_quads, float* out, size_t stride);

template <class Isa, FloatFormat F>
void dot_quads_float(const FormatKernels&, const TableView& table, const RowSet& rows, const float* hidden,
                     size_t n_quads, float* out, size_t stride) {
  const Quarters quarters{rows.count};
  for (size_t n = 0; n < 4 * n_quads; n += 4) {
    for (size_t i = 0; i < 2 * quarters.length; ++i) {
      const size_t half = i % 2 * 2;
      const typename F::Block* pair[2];
      for (size_t r = 0; r < 2; ++r) pair[r] = row_blocks<F>(table, rows[quarters.row(i / 2, half + r)]);
      v128_t sums[2][4] = {};
      add_products<Isa, F>(pair, hidden + n * table.cols, table.cols, table.cols, sums);
      for (size_t r = 0; r < 2; ++r) {
        quarters.store_row(sums_of_f32x4(sums[r][0], sums[r][1], sums[r][2], sums[r][3]), i / 2, half + r,
                           out + n * stride, stride);
      }
    }
  }
}

// Two rows times up to kFloatQuads quads of vectors, which share the decoding.
constexpr size_t kFloatQuads = 4;
template <class Isa>
void dot_two(const FormatKernels& format, const TableView& table, const uint64_t (&rows)[2],
             const float* hidden, size_t n_quads, v128_t (&sums)[kFloatQuads][2][4]) {
  Piece<2> piece;
  for (uint32_t first = 0; first < table.cols; first += kPiece) {
    const uint32_t length = std::min(kPiece, table.cols - first);
    piece.decode(format.decode, table, rows, first, length);
    for (size_t q = 0; q < n_quads; ++q) {
      v128_t quad[2][4];  // in registers
      unrolled<8>([&]<size_t i>() ID2VEC_INLINE { quad[i / 4][i % 4] = sums[q][i / 4][i % 4]; });
      add_products<Isa, F32>(piece.rows, hidden + 4 * q * table.cols + first, table.cols, length, quad);
      unrolled<8>([&]<size_t i>() ID2VEC_INLINE { sums[q][i / 4][i % 4] = quad[i / 4][i % 4]; });
    }
  }
}

template <class Isa>
void dot_quads_decoded(const FormatKernels& format, const TableView& table, const RowSet& rows,
                       const float* hidden, size_t n_quads, float* out, size_t stride) {
  const Quarters quarters{rows.count};
  for (size_t i = 0; i < quarters.length; ++i) {
    for (size_t half = 0; half < 4; half += 2) {
      const uint64_t pair[2] = {rows[quarters.row(i, half)], rows[quarters.row(i, half + 1)]};
      v128_t sums[kFloatQuads][2][4] = {};
      dot_two<Isa>(format, table, pair, hidden, n_quads, sums);
      for (size_t q = 0; q < n_quads; ++q) {
        for (size_t r = 0; r < 2; ++r) {
          const v128_t(&row)[4] = sums[q][r];
          quarters.store_row(sums_of_f32x4(row[0], row[1], row[2], row[3]), i, half + r, out + 4 * q * stride,
                             stride);
        }
      }
    }
  }
}

// What a FormatKernels' `details` are for these formats.
struct FloatCode {
  DotOneFloat dot_one;
  DotQuadsFloat dot_quads;
};

template <class Isa>
void dot_floats(const FormatKernels& format, const TableView& table, const RowSet& rows,
                const Activations& activations, Precision, float* out, size_t stride) {
  const auto& [dot_one, dot_quads] = *static_cast<const FloatCode*>(format.details);
  size_t n = 0;
  for (size_t quads; (quads = std::min((activations.count - n) / 4, kFloatQuads)) > 0; n += 4 * quads) {
    dot_quads(format, table, rows, activations.hidden + n * table.cols, quads, out + n * stride, stride);
  }
  for (; n < activations.count; ++n) {
    dot_one(format, table, rows, activations.hidden + n * table.cols, out + n * stride);
  }
}

// `count` weights to floats.
template <FloatFormat F>
void unpack_by_8(const typename F::Block* blocks, uint32_t count, float* out) {
  uint32_t i = 0;
#pragma clang loop unroll(disable)
  for (; i + 8 <= count; i += 8) {
    v128_t w_f32x4[2];
    F::load8(blocks + i, w_f32x4);
    wasm_v128_store(out + i, w_f32x4[0]);
    wasm_v128_store(out + i + 4, w_f32x4[1]);
  }
#pragma clang loop unroll(disable) vectorize(disable)
  for (; i < count; ++i) out[i] = F::value(blocks[i], 0);
}

template <FloatFormat F>
void unpack_floats(const typename F::Block* blocks, uint32_t count, float* out) {
  if constexpr (requires { F::load32; }) {
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i < count; i += 32) {
      const uint32_t length = std::min(count - i, 32u);
      v128_t w_f32x4[8];
      if (length == 32 && F::load32(blocks + i, w_f32x4)) {
        for (size_t k = 0; k < 8; ++k) wasm_v128_store(out + i + 4 * k, w_f32x4[k]);
      } else {
        unpack_by_8<F>(blocks + i, length, out + i);
      }
    }
  } else {
    unpack_by_8<F>(blocks, count, out);
  }
}

template <FloatFormat F>
void decode_floats(const TableView& table, uint64_t row, uint32_t first, uint32_t count, float* out) {
  unpack_floats<F>(row_blocks<F>(table, row) + first, count, out);
}

}  // namespace id2vec::v128
