// Dot products of formats whose weights become floats: fused multiply-add, four rows times one vector or two rows
// times four. A FloatFormat brings `load8(blocks, w)`, eight weights from there on as two f32x4; every other format is decoded
// to floats piece by piece first.
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

// The same for a whole row of table, of a FloatFormat …
template <class Isa, FloatFormat F, size_t kRows, size_t kVectors>
void dot_whole_rows(const TableView& table, const uint64_t (&rows)[kRows], const float* hidden,
                    v128_t (&sums)[kRows][kVectors]) {
  const typename F::Block* blocks[kRows];
  for (size_t r = 0; r < kRows; ++r) blocks[r] = row_blocks<F>(table, rows[r]);
  add_products<Isa, F>(blocks, hidden, table.cols, table.cols, sums);
}

// … and of any other.
template <class Isa, size_t kRows, size_t kVectors>
void dot_decoded_rows(Decode decode, const TableView& table, const uint64_t (&rows)[kRows],
                      const float* hidden, v128_t (&sums)[kRows][kVectors]) {
  F32::Block weights[kRows][kPiece];
  const F32::Block* blocks[kRows];
  for (size_t r = 0; r < kRows; ++r) blocks[r] = weights[r];
  for (uint32_t first = 0; first < table.cols; first += kPiece) {
    const uint32_t length = std::min(kPiece, table.cols - first);
    for (size_t r = 0; r < kRows; ++r) decode(table, rows[r], first, length, &weights[r][0].value);
    add_products<Isa, F32>(blocks, hidden + first, table.cols, length, sums);
  }
}

// dot(rows, hidden, sums) for all rows: by fours with one vector, by twos with four.
template <class Dot>
void for_each_float_tile(const TableView& table, const RowSet& rows, const Activations& activations,
                         float* out, size_t stride, Dot&& dot) {
  const Quarters quarters{rows.count};
  size_t n = 0;
  for (; n + 4 <= activations.count; n += 4) {
    for (size_t i = 0; i < quarters.length; ++i) {
      for (size_t half = 0; half < 4; half += 2) {
        const uint64_t pair[2] = {rows[quarters.row(i, half)], rows[quarters.row(i, half + 1)]};
        v128_t sums[2][4] = {};
        dot(pair, activations.hidden + n * table.cols, sums);
        for (size_t r = 0; r < 2; ++r) {
          quarters.store_row(sums_of_f32x4(sums[r][0], sums[r][1], sums[r][2], sums[r][3]), i, half + r, 4,
                             out + n * stride, stride);
        }
      }
    }
  }
  for (; n < activations.count; ++n) {
    for (size_t i = 0; i < quarters.length; ++i) {
      uint64_t quad[4];
      for (size_t r = 0; r < 4; ++r) quad[r] = rows[quarters.row(i, r)];
      v128_t sums[4][1] = {};
      dot(quad, activations.hidden + n * table.cols, sums);
      quarters.store(sums_of_f32x4(sums[0][0], sums[1][0], sums[2][0], sums[3][0]), i, out + n * stride);
    }
  }
}

template <class Isa, FloatFormat F>
void dot_floats(const TableView& table, const RowSet& rows, const Activations& activations, Precision,
                float* out, size_t stride) {
  for_each_float_tile(table, rows, activations, out, stride,
                      [&](const auto& some, const float* hidden, auto& sums) {
                        dot_whole_rows<Isa, F>(table, some, hidden, sums);
                      });
}

template <class Isa>
[[gnu::noinline]] void dot_decoded(Decode decode, const TableView& table, const RowSet& rows,
                                   const Activations& activations, float* out, size_t stride) {
  for_each_float_tile(table, rows, activations, out, stride,
                      [&](const auto& some, const float* hidden, auto& sums) {
                        dot_decoded_rows<Isa>(decode, table, some, hidden, sums);
                      });
}

}  // namespace id2vec::v128
