// Rows times several vectors. A stretch of four rows is unpacked once for up to eight vectors. Lanes belong to vectors:
// a word of weights (two at 16 bits, or four bytes) is broadcast and multiplied with the words of four vectors at once,
// so that nothing is summed across lanes, and scales meet a group's sum once per four vectors.
#pragma once

#include "kernels/v128_packing.h"
#include "kernels/v128_quarters.h"
#include "kernels/v128_single.h"

namespace id2vec::v128 {

// How weights of a stretch, which are signed bytes, meet words of activations:
//
//   kCols             columns of four words, which is what load() takes
//   kBeforeWidening   words whose products are added up in lanes that hold no more
//   kBeforeBranch     words that are computed together: see dot_group()

// Activations at 16 bits, any quants.
struct Shorts {
  static constexpr size_t kCols = 8, kBeforeWidening = 1, kBeforeBranch = 2;

  static v128_t load(const uint8_t* weights) { return wasm_i16x8_load8x8(weights); }
  static v128_t multiply(v128_t w, v128_t a) { return wasm_i32x4_dot_i16x8(w, a); }
  static v128_t add(v128_t a, v128_t b) { return wasm_i32x4_add(a, b); }
  static v128_t widen(v128_t sum_i32x4) { return sum_i32x4; }
};

// Activations in bytes, quants that are never negative.
template <class Isa, size_t n_words>
struct Bytes {
  static constexpr size_t kCols = 16, kBeforeWidening = n_words, kBeforeBranch = 1;
  static constexpr int32_t kMaxQuant = 32767 / (127 * 2 * n_words);

  static v128_t load(const uint8_t* weights) { return wasm_v128_load(weights); }
  static v128_t multiply(v128_t w, v128_t a) { return Isa::dot_i16x8(a, w); }
  static v128_t add(v128_t a, v128_t b) { return wasm_i16x8_add(a, b); }
  static v128_t widen(v128_t sum_i16x8) {
    return wasm_i32x4_dot_i16x8(sum_i16x8, pinned_i32x4<0x00010001>());
  }
};

// f.operator()<0>() && … && f.operator()<n − 1>(): a loop whose index is a constant, and which may end early.
template <size_t n, class F>
ID2VEC_INLINE inline bool while_true(F&& f) {
  return [&]<size_t... i>(std::index_sequence<i...>)
             ID2VEC_INLINE { return (f.template operator()<i>() && ...); }(std::make_index_sequence<n>{});
}

// exact[r][q] += Σ of the products of `cols` columns of two rows with some quads; lanes belong to vectors.
//
// The loop could end after any word, as far as the compiler knows. That keeps it from computing one sum after the other,
// with the words of all of them in registers meanwhile, which are too few.
template <class M, size_t kQuads>
ID2VEC_INLINE inline void dot_group(const uint8_t* weights, const uint8_t* a, size_t cols,
                                    v128_t (&exact_i32x4)[2][kQuads]) {
  size_t left = unknown_value(cols / M::kCols * 4);  // words
  for (;; left -= 4) {
    const v128_t w[2] = {M::load(weights), M::load(weights + Stretch::kCols)};
    const bool more = while_true<4 / M::kBeforeWidening>([&]<size_t part>() ID2VEC_INLINE {
      v128_t sums[2][kQuads];
      const bool more = while_true<M::kBeforeWidening>([&]<size_t i>() ID2VEC_INLINE {
        constexpr size_t word = part * M::kBeforeWidening + i;
        const v128_t words[2] = {broadcast<word>(w[0]), broadcast<word>(w[1])};
        for (size_t q = 0; q < kQuads; ++q) {
          const v128_t a_words = wasm_v128_load(a + 16 * (word * kQuads + q));
          for (size_t r = 0; r < 2; ++r) {
            const v128_t products = M::multiply(words[r], a_words);
            sums[r][q] = i == 0 ? products : M::add(sums[r][q], products);
          }
        }
        return (word + 1) % M::kBeforeBranch != 0 || left != word + 1;
      });
      for (size_t r = 0; r < 2; ++r) {
        for (size_t q = 0; q < kQuads; ++q) {
          exact_i32x4[r][q] = wasm_i32x4_add(exact_i32x4[r][q], M::widen(sums[r][q]));
        }
      }
      return more;
    });
    if (!more) return;
    weights += M::kCols;
    a += 64 * kQuads;
  }
}

// A stretch times a tile of some quads, but for its offsets; added to sums[row][quad]. Two rows at a time.
template <class Isa, class M, size_t kQuads>
[[gnu::noinline]] void add_rows(const Stretch& stretch, size_t n_groups, size_t group_size,
                                const TileView& view, v128_t (*sums)[2]) {
#pragma clang loop unroll(disable)
  for (size_t r = 0; r < 4; r += 2, sums += 2) {
    TileView tile = view;
    v128_t totals[2][kQuads];
    for (size_t i = 0; i < 2; ++i) {
      for (size_t q = 0; q < kQuads; ++q) totals[i][q] = sums[i][q];
    }
    const uint8_t* weights = stretch.raw[r];
    for (const float *scale = stretch.scale[0] + r, *const end = scale + 4 * n_groups; scale != end;
         scale += 4) {
      v128_t exact_i32x4[2][kQuads];
      for (size_t q = 0; q < kQuads; ++q) {
        exact_i32x4[0][q] = exact_i32x4[1][q] = wasm_v128_load(tile.starts + kQuad * q);
      }
      dot_group<M>(weights, tile.a, group_size, exact_i32x4);
      weights += group_size;
      tile.a += group_size / M::kCols * 64 * kQuads;
      for (size_t q = 0; q < kQuads; ++q) {
        const v128_t scales = wasm_v128_load(tile.scales + kQuad * q);
        for (size_t i = 0; i < 2; ++i) {
          const v128_t product = wasm_f32x4_mul(scales, wasm_f32x4_convert_i32x4(exact_i32x4[i][q]));
          totals[i][q] = Isa::madd(wasm_v128_load32_splat(scale + i), product, totals[i][q]);
        }
      }
      tile.starts += kQuad * kQuads;
      tile.scales += kQuad * kQuads;
    }
    for (size_t i = 0; i < 2; ++i) {
      for (size_t q = 0; q < kQuads; ++q) sums[i][q] = totals[i][q];
    }
  }
}

// Offsets of a stretch times the sums of activations.
template <class Isa>
[[gnu::noinline]] void add_offsets(const Stretch& stretch, size_t n_groups, size_t n_quads,
                                   const TileView& tile, v128_t (*sums)[2]) {
#pragma clang loop unroll(disable)
  for (size_t q = 0; q < n_quads; ++q) {
    v128_t totals[4];
    for (size_t r = 0; r < 4; ++r) totals[r] = sums[r][q];
    const float* sums_of_a = tile.sums + kQuad * q;
#pragma clang loop unroll(disable)
    for (size_t group = 0; group < n_groups; ++group, sums_of_a += kQuad * n_quads) {
      const v128_t a = wasm_v128_load(sums_of_a), offset = wasm_v128_load(stretch.offset[group]);
      unrolled<4>([&]<size_t r>()
                      ID2VEC_INLINE { totals[r] = Isa::madd(broadcast<r>(offset), a, totals[r]); });
    }
    for (size_t r = 0; r < 4; ++r) sums[r][q] = totals[r];
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
void add_vector(const Packing& packing, const Stretch& stretch, size_t n_groups, const TileView& vector,
                QuadSums<Isa>& quad) {
  const size_t group_size = packing.group_size;
  for (size_t group = 0, col = 0; group < n_groups; ++group, col += group_size) {
    const v128_t product =
        wasm_f32x4_mul(wasm_v128_load(stretch.scale[group]), wasm_v128_load32_splat(vector.scales + group));
    unrolled<4>([&]<size_t r>() ID2VEC_INLINE {
      v128_t sum_i32x4 = wasm_v128_load32_zero(vector.starts + group);
      for (size_t i = col; i < col + group_size; i += 8) {
        const v128_t w_i16x8 = wasm_i16x8_load8x8(stretch.raw[r] + i);
        sum_i32x4 =
            wasm_i32x4_add(sum_i32x4, wasm_i32x4_dot_i16x8(w_i16x8, wasm_v128_load(vector.a + 2 * i)));
      }
      quad.template add<r>(sum_i32x4, product);
    });
    if (packing.has_offset) {
      quad.offset = Isa::madd(wasm_v128_load(stretch.offset[group]),
                              wasm_v128_load32_splat(vector.sums + group), quad.offset);
    }
  }
}

// All rows times one vector where a format has no code of its own for that.
template <class Isa>
void dot_one_unpacked(const Packing& packing, const TableView& table, const RowSet& rows,
                      const TileLayout& layout, const uint8_t* tile, float* out) {
  const Quarters quarters{rows.count};
  const size_t step = Stretch::kCols / packing.group_size;
  Stretch stretch;
  for (size_t i = 0; i < quarters.length; ++i) {
    const uint8_t* four[4];
    for (size_t r = 0; r < 4; ++r) four[r] = row_address(table, rows[quarters.row(i, r)]);
    QuadSums<Isa> quad;
    for (size_t first = 0; first < layout.groups; first += step) {
      const size_t n_groups = std::min(step, layout.groups - first);
      packing.load(four, first, n_groups, stretch);
      add_vector<Isa>(packing, stretch, n_groups, TileView(layout, tile, first), quad);
    }
    quarters.store(quad.result(), i, out);
  }
}

// Rows times one tile of one quad or two.
struct TileJob {
  const Packing& packing;
  const TileLayout& layout;
  const uint8_t* tile;
  AddRows add;
};

// One stretch of four rows times a tile; adds to sums[row][quad].
template <class Isa>
void add_stretch(const TileJob& job, const uint8_t* const (&rows)[4], size_t first, size_t n_groups,
                 v128_t (&sums)[4][2]) {
  const auto& [packing, layout, tile, add] = job;
  Stretch stretch;
  packing.load(rows, first, n_groups, stretch);
  const TileView view(layout, tile, first);
  add(stretch, n_groups, packing.group_size, view, sums);
  if (packing.has_offset) add_offsets<Isa>(stretch, n_groups, layout.vectors / kQuad, view, sums);
}

// All rows times a tile of one quad or two, `vectors` of whose vectors are there.
template <class Isa>
void dot_tile(const TileJob& job, const TableView& table, const RowSet& rows, size_t vectors, float* out,
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
      quarters.store_row(reinterpret_cast<const float*>(sums[r]), i, r, vectors, out, stride);
    }
  }
}

}  // namespace id2vec::v128
