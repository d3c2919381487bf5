// Rows times several vectors. A stretch of four rows is unpacked once for up to eight vectors. Lanes belong to vectors:
// a word of weights (two at 16 bits, or four bytes) is broadcast and multiplied with the words of four vectors at once,
// so that nothing is summed across lanes, and scales meet a group's sum once per four vectors.
#pragma once

#include "kernels/v128_packing.h"
#include "kernels/v128_quarters.h"
#include "kernels/v128_single.h"

namespace id2vec::v128 {

// Weights and activations at 16 bits, any quants.
struct Shorts {
  static constexpr size_t kWeightBytes = 2;
  static constexpr bool kWide = true;  // sums are at 32 bits

  static v128_t multiply(v128_t w, v128_t a) { return wasm_i32x4_dot_i16x8(w, a); }
  static v128_t add(v128_t a, v128_t b) { return wasm_i32x4_add(a, b); }
};

// Weights and activations in bytes. The greatest raw quant times 127 · 2 · kSteps has to fit 16 bits.
template <class Isa, size_t n_steps>
struct Bytes {
  static constexpr size_t kWeightBytes = 1;
  static constexpr bool kWide = false;
  static constexpr size_t kSteps = n_steps;  // of one word each, before sums are widened
  static constexpr int32_t kMaxQuant = 32767 / (127 * 2 * n_steps);

  static v128_t multiply(v128_t w, v128_t a) { return Isa::dot_i16x8(a, w); }
  static v128_t add(v128_t a, v128_t b) { return wasm_i16x8_add(a, b); }
  static v128_t widen(v128_t sum_i16x8) {
    return wasm_i32x4_dot_i16x8(sum_i16x8, pinned_i32x4<0x00010001>());
  }
};

// A stretch whose quants are 16 bits wide.
struct WideStretch {
  alignas(16) int16_t q[4][Stretch::kCols];

  void widen(const Stretch& from, size_t cols, bool is_signed) {
#pragma clang loop unroll(disable)
    for (size_t r = 0; r < 4; ++r) {
      for (size_t i = 0; i < cols; i += 8) {
        const uint8_t* raw = from.raw[r] + i;
        wasm_v128_store(q[r] + i, is_signed ? wasm_i16x8_load8x8(raw) : wasm_u16x8_load8x8(raw));
      }
    }
  }
};

// Loads a stretch whose offsets are what multiplies t·Σ a where raw quants are meant: see offset_of_raw().
template <class Isa>
void load_for_raw(const Packing& packing, const uint8_t* const (&rows)[4], size_t first, size_t n_groups,
                  Stretch& stretch) {
  packing.load(rows, first, n_groups, stretch);
  if (packing.zero == 0) return;
  const v128_t minus_zero = wasm_f32x4_splat(float(-packing.zero));
  for (size_t group = 0; group < n_groups; ++group) {
    const v128_t offset = wasm_v128_load(stretch.offset[group]);
    wasm_v128_store(stretch.offset[group],
                    Isa::madd(wasm_v128_load(stretch.scale[group]), minus_zero, offset));
  }
}

// sums[r][q] of two steps; the loop around them is what keeps the compiler from computing one sum after the other, with
// the words of all steps in registers meanwhile.
template <class M, size_t kQuads>
ID2VEC_INLINE inline void add_two_steps(const uint8_t* const (&weights)[2], const uint8_t* const (&a)[kQuads],
                                        size_t at, v128_t (&sums)[2][kQuads]) {
  unrolled<2>([&]<size_t step>() ID2VEC_INLINE {
    v128_t w[2];
    for (size_t r = 0; r < 2; ++r) w[r] = wasm_v128_load32_splat(weights[r] + at + 4 * step);
    for (size_t q = 0; q < kQuads; ++q) {
      const v128_t a_words = wasm_v128_load(a[q] + kQuad * (at + 4 * step));
      for (size_t r = 0; r < 2; ++r) sums[r][q] = M::add(sums[r][q], M::multiply(w[r], a_words));
    }
  });
}

// exact[r][q] = Σ raw·a of one group of two rows and some quads; lanes belong to vectors.
template <class M, size_t kQuads>
ID2VEC_INLINE inline void dot_group(const uint8_t* const (&weights)[2], const uint8_t* const (&a)[kQuads],
                                    size_t weight_bytes, v128_t (&exact_i32x4)[2][kQuads]) {
  for (size_t r = 0; r < 2; ++r) {
    for (size_t q = 0; q < kQuads; ++q) exact_i32x4[r][q] = wasm_i32x4_splat(0);
  }
  if constexpr (M::kWide) {
#pragma clang loop unroll(disable)
    for (size_t at = 0; at < weight_bytes; at += 8) add_two_steps<M>(weights, a, at, exact_i32x4);
  } else {
#pragma clang loop unroll(disable)
    for (size_t at = 0; at < weight_bytes;) {
      v128_t sums[2][kQuads];
      for (size_t r = 0; r < 2; ++r) {
        for (size_t q = 0; q < kQuads; ++q) sums[r][q] = wasm_i32x4_splat(0);
      }
#pragma clang loop unroll(disable)
      for (const size_t end = at + 4 * M::kSteps; at < end; at += 8) add_two_steps<M>(weights, a, at, sums);
      for (size_t r = 0; r < 2; ++r) {
        for (size_t q = 0; q < kQuads; ++q) {
          exact_i32x4[r][q] = wasm_i32x4_add(exact_i32x4[r][q], M::widen(sums[r][q]));
        }
      }
    }
  }
}

// Rows r and r + 1 of a stretch times some quads. `weights` are those of row r, `row_bytes` before those of row r + 1.
template <class Isa, class M, size_t kQuads>
[[gnu::noinline]] void add_rows(const Stretch& stretch, size_t r, const uint8_t* weights, size_t n_groups,
                                size_t group_size, const TileView* quads, v128_t (*sums)[2]) {
  const size_t weight_bytes = group_size * M::kWeightBytes;
  v128_t totals[2][kQuads];
  for (size_t i = 0; i < 2; ++i) {
    for (size_t q = 0; q < kQuads; ++q) totals[i][q] = sums[r + i][q];
  }
  const uint8_t* rows[2] = {weights, weights + Stretch::kCols * M::kWeightBytes};
  const uint8_t* a[kQuads];
  for (size_t q = 0; q < kQuads; ++q) a[q] = quads[q].a;
  for (size_t group = 0; group < n_groups; ++group) {
    v128_t exact_i32x4[2][kQuads];
    dot_group<M, kQuads>(rows, a, weight_bytes, exact_i32x4);
    for (size_t q = 0; q < kQuads; ++q) {
      const v128_t scales = wasm_v128_load(quads[q].scales + kQuad * group);
      const v128_t sums_of_a = wasm_v128_load(quads[q].sums + kQuad * group);
      for (size_t i = 0; i < 2; ++i) {
        const v128_t scale = wasm_v128_load32_splat(&stretch.scale[group][r + i]);
        const v128_t offset = wasm_v128_load32_splat(&stretch.offset[group][r + i]);
        const v128_t product = wasm_f32x4_mul(scales, wasm_f32x4_convert_i32x4(exact_i32x4[i][q]));
        totals[i][q] = Isa::madd(offset, sums_of_a, Isa::madd(scale, product, totals[i][q]));
      }
      a[q] += kQuad * weight_bytes;
    }
    for (const uint8_t*& row : rows) row += weight_bytes;
  }
  for (size_t i = 0; i < 2; ++i) {
    for (size_t q = 0; q < kQuads; ++q) sums[r + i][q] = totals[i][q];
  }
}

template <class Isa, class F>
constexpr Method method_of(Precision precision) {
  const Encoding one = encoding_for_one<Isa, F>(precision);
  if constexpr (kInBytes<Isa, F>) {
    using Multiply = Bytes<Isa, kMaxRaw<F> <= Bytes<Isa, 4>::kMaxQuant ? 4 : 2>;
    static_assert(kMaxRaw<F> <= Multiply::kMaxQuant);
    if (precision == Precision::kFast) {
      return {one, Encoding::kInt8, add_rows<Isa, Multiply, 1>, add_rows<Isa, Multiply, 2>};
    }
  }
  return {one, Encoding::kInt16, add_rows<Isa, Shorts, 1>, add_rows<Isa, Shorts, 2>};
}

// A stretch times one vector at 16 bits.
template <class Isa>
void add_vector(const Stretch& stretch, const WideStretch& wide, size_t n_groups, size_t group_size,
                TileView vector, QuadSums<Isa>& quad) {
  for (size_t group = 0, col = 0; group < n_groups; ++group, col += group_size) {
    const v128_t product =
        wasm_f32x4_mul(wasm_v128_load(stretch.scale[group]), wasm_v128_load32_splat(vector.scales + group));
    unrolled<4>([&]<size_t r>() ID2VEC_INLINE {
      v128_t sum_i32x4 = wasm_i32x4_splat(0);
      for (size_t i = 0; i < group_size; i += 16) {
        for (size_t half = i; half < i + 16; half += 8) {
          const v128_t w_i16x8 = wasm_v128_load(wide.q[r] + col + half);
          const v128_t a_i16x8 = wasm_v128_load(vector.a + 2 * (col + half));
          sum_i32x4 = wasm_i32x4_add(sum_i32x4, wasm_i32x4_dot_i16x8(w_i16x8, a_i16x8));
        }
      }
      quad.template add<r>(sum_i32x4, product);
    });
    quad.offset = Isa::madd(wasm_v128_load(stretch.offset[group]),
                            wasm_v128_load32_splat(vector.sums + group), quad.offset);
  }
}

// All rows times one vector where a format has no code of its own for that.
template <class Isa>
void dot_one_unpacked(const Packing& packing, const TableView& table, const RowSet& rows,
                      const TileLayout& layout, const uint8_t* tile, float* out) {
  const Quarters quarters{rows.count};
  const size_t step = Stretch::kCols / packing.group_size;
  Stretch stretch;
  WideStretch wide;
  for (size_t i = 0; i < quarters.length; ++i) {
    const uint8_t* four[4];
    for (size_t r = 0; r < 4; ++r) four[r] = row_address(table, rows[quarters.row(i, r)]);
    QuadSums<Isa> quad;
    for (size_t first = 0; first < layout.groups; first += step) {
      const size_t n_groups = std::min(step, layout.groups - first);
      load_for_raw<Isa>(packing, four, first, n_groups, stretch);
      wide.widen(stretch, n_groups * packing.group_size, packing.is_signed);
      add_vector<Isa>(stretch, wide, n_groups, packing.group_size, TileView(layout, tile, first), quad);
    }
    quarters.store(quad.result(), i, out);
  }
}

// One stretch of four rows times one quad or two; adds to sums[row][quad].
struct TileJob {
  const Packing& packing;
  const TileLayout& layout;
  const uint8_t* tiles;
  size_t n_quads;
  AddRows add;
};

template <class Isa>
void add_stretch(const TileJob& job, const uint8_t* const (&rows)[4], size_t first, size_t n_groups,
                 v128_t (&sums)[4][2]) {
  const auto& [packing, layout, tiles, n_quads, add] = job;
  Stretch stretch;
  WideStretch wide;
  load_for_raw<Isa>(packing, rows, first, n_groups, stretch);
  const bool in_bytes = layout.encoding == Encoding::kInt8;
  if (!in_bytes) wide.widen(stretch, n_groups * packing.group_size, packing.is_signed);
  const TileView quads[2] = {{layout, tiles, first}, {layout, tiles + (n_quads - 1) * layout.bytes(), first}};
#pragma clang loop unroll(disable)
  for (size_t r = 0; r < 4; r += 2) {
    const uint8_t* weights = in_bytes ? stretch.raw[r] : reinterpret_cast<const uint8_t*>(wide.q[r]);
    add(stretch, r, weights, n_groups, packing.group_size, quads, sums);
  }
}

// All rows times one quad or two, which have `vectors` vectors in all.
template <class Isa>
void dot_quads(const TileJob& job, const TableView& table, const RowSet& rows, size_t vectors, float* out,
               size_t stride) {
  const Quarters quarters{rows.count};
  const size_t step = Stretch::kCols / job.packing.group_size;
  for (size_t i = 0; i < quarters.length; ++i) {
    const uint8_t* four[4];
    for (size_t r = 0; r < 4; ++r) four[r] = row_address(table, rows[quarters.row(i, r)]);
    v128_t sums[4][2] = {};
    for (size_t first = 0; first < job.layout.groups; first += step) {
      add_stretch<Isa>(job, four, first, std::min(step, job.layout.groups - first), sums);
    }
#pragma clang loop unroll(disable)
    for (size_t r = 0; r < 4; ++r) {
#pragma clang loop unroll(disable)
      for (size_t n = 0; n < vectors; n += kQuad) {
        quarters.store_row(sums[r][n / kQuad], i, r, std::min(vectors - n, kQuad), out + n * stride, stride);
      }
    }
  }
}

}  // namespace id2vec::v128
