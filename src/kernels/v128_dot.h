// Dot products on the quants as they lie in the table: integers times integers within a group, floats between groups
// (formula: v128_activations.h). Four rows are worked on at a time, so that four scales are converted in one vector.
#pragma once

#include <algorithm>

#include "kernels/decode.h"
#include "kernels/v128_activations.h"
#include "kernels/v128_quarters.h"

namespace id2vec::v128 {

// A group's raw quants, ready to be multiplied with any number of vectors; dot() is Σ raw·a, spread over four lanes.
template <class Isa, class F, class Encoding>
struct Quants;

template <class Isa, class F>
struct Quants<Isa, F, Int16> {
  v128_t w_i16x8[2 * kVectors<F>];

  Quants(const typename F::Block& block, size_t group) { widened<F>(block, group, w_i16x8); }
  v128_t dot(const uint8_t* a) const {
    v128_t sum;
    unrolled<2 * kVectors<F>>([&]<size_t i>() ID2VEC_INLINE {
      const v128_t products = wasm_i32x4_dot_i16x8(w_i16x8[i], wasm_v128_load(a + 16 * i));
      sum = i == 0 ? products : wasm_i32x4_add(sum, products);
    });
    return sum;
  }
};

template <class Isa, class F>
struct Quants<Isa, F, Int8> {
  v128_t raw_i8x16[kVectors<F>];

  Quants(const typename F::Block& block, size_t group) { F::raw(block, group, raw_i8x16); }
  // 63 · 127 · 2 · 2 < 2^15: the products of four pairs fit 16 bits.
  v128_t dot(const uint8_t* a) const {
    v128_t sum;
    unrolled<kVectors<F>>([&]<size_t i>() ID2VEC_INLINE {
      const v128_t products = Isa::dot_i16x8(wasm_v128_load(a + 16 * i), raw_i8x16[i]);
      sum = i == 0 ? products : wasm_i16x8_add(sum, products);
    });
    return wasm_i32x4_dot_i16x8(sum, pinned_i32x4<0x00010001>());
  }
};

// What multiplies t·Σ a: the format's offset, and −zero · scale because raw quants are never below 0.
template <class Isa, class F>
v128_t offset_of_raw(v128_t scale, v128_t offset) {
  if constexpr (F::kZero == 0) return offset;
  const v128_t minus_zero = pinned_f32x4<float(-F::kZero)>();
  if constexpr (F::kHasOffset) return Isa::madd(scale, minus_zero, offset);
  return wasm_f32x4_mul(scale, minus_zero);
}
template <class F>
constexpr bool kOffsets = F::kHasOffset || F::kZero != 0;

// Scales and offsets of four blocks.
template <class F>
struct BlockScales {
  v128_t scale[kGroups<F>], offset[kGroups<F>];

  explicit BlockScales(const typename F::Block* const (&blocks)[4]) { F::scales(blocks, scale, offset); }
};

// Those of eight or sixteen groups are better off in memory: as variables they would be spilled there one by one.
template <class F>
const BlockScales<F>* in_memory(const BlockScales<F>* scales) {
#ifdef __wasm__
  if constexpr (kGroups<F> > 1) asm("" : "+r"(scales) : : "memory");
#endif
  return scales;
}

// Four rows times one vector; lane r belongs to row r.
template <class Isa, class F, class Encoding>
v128_t dot_quad(const typename F::Block* const (&rows)[4], uint32_t cols, const uint8_t* tile) {
  const TileLayout<F, Encoding> layout(cols, 1);
  const float* scales = reinterpret_cast<const float*>(tile);
  const float* sums = reinterpret_cast<const float*>(tile + layout.sums_at());
  const uint8_t* a = tile + layout.quants_at();
  v128_t dot[4], offset_dot = wasm_f32x4_splat(0);
  for (v128_t& sum : dot) sum = wasm_f32x4_splat(0);

  for (size_t b = 0; b < layout.groups / kGroups<F>; ++b) {
    const typename F::Block* const blocks[4] = {rows[0] + b, rows[1] + b, rows[2] + b, rows[3] + b};
    BlockScales<F> converted(blocks);
    const auto& [scale, offset] = *in_memory(&converted);
    for_each_group<F>(kGroups<F>, [&](size_t group) ID2VEC_INLINE {
      const v128_t product = wasm_f32x4_mul(scale[group], wasm_v128_load32_splat(scales++));
      unrolled<4>([&]<size_t r>() ID2VEC_INLINE {
        const Quants<Isa, F, Encoding> quants(*blocks[r], group);
        dot[r] = Isa::madd(wasm_f32x4_convert_i32x4(quants.dot(a)), broadcast<r>(product), dot[r]);
      });
      if constexpr (kOffsets<F>) {
        const v128_t factor = offset_of_raw<Isa, F>(scale[group], offset[group]);
        offset_dot = Isa::madd(factor, wasm_v128_load32_splat(sums++), offset_dot);
      }
      a += layout.kGroupBytes;
    });
  }
  return wasm_f32x4_add(sums_of_f32x4(dot[0], dot[1], dot[2], dot[3]), offset_dot);
}

// Four rows times a tile of four vectors. The rows take turns on a stretch of 256 columns: its scales, converted for
// four rows at once, and its activations stay in the first-level cache.
template <class Isa, class F, class Encoding>
struct TileDot {
  static constexpr size_t kStretch = 256 / F::kGroupSize;  // groups

  // For one row: lane by lane the dot product with each vector of the tile, and the offsets' share.
  struct Sums {
    v128_t dot[kTile], offset;
  };
  Sums sums[4];
  // Lane r belongs to row r.
  float scale[kStretch][4], offset[kStretch][4];

  TileDot() {
    for (Sums& row : sums) {
      for (v128_t& dot : row.dot) dot = wasm_f32x4_splat(0);
      row.offset = wasm_f32x4_splat(0);
    }
  }

  void convert_scales(const typename F::Block* const (&rows)[4], size_t first_block, size_t n_blocks) {
    for (size_t b = 0; b < n_blocks; ++b) {
      const size_t at = first_block + b;
      const typename F::Block* const blocks[4] = {rows[0] + at, rows[1] + at, rows[2] + at, rows[3] + at};
      v128_t scale_f32x4[kGroups<F>], offset_f32x4[kGroups<F>];
      F::scales(blocks, scale_f32x4, offset_f32x4);
      for (size_t group = 0; group < kGroups<F>; ++group) {
        wasm_v128_store(scale[b * kGroups<F> + group], scale_f32x4[group]);
        if constexpr (kOffsets<F>) {
          const v128_t factor = offset_of_raw<Isa, F>(scale_f32x4[group], offset_f32x4[group]);
          wasm_v128_store(offset[b * kGroups<F> + group], factor);
        }
      }
    }
  }

  // `a` and its scales and sums begin with the stretch.
  void add_row(const typename F::Block* blocks, size_t n_groups, size_t r, const float* scales,
               const float* a_sums, const uint8_t* a) {
    Sums row = sums[r];
    for_each_group<F>(n_groups, [&](size_t group) ID2VEC_INLINE {
      const Quants<Isa, F, Encoding> quants(blocks[group / kGroups<F>], group % kGroups<F>);
      const v128_t product =
          wasm_f32x4_mul(wasm_v128_load32_splat(&scale[group][r]), wasm_v128_load(scales + kTile * group));
      unrolled<kTile>([&]<size_t n>() ID2VEC_INLINE {
        const v128_t exact = quants.dot(a + (kTile * group + n) * F::kGroupSize * Encoding::kBytes);
        row.dot[n] = Isa::madd(wasm_f32x4_convert_i32x4(exact), broadcast<n>(product), row.dot[n]);
      });
      if constexpr (kOffsets<F>) {
        row.offset = Isa::madd(wasm_v128_load32_splat(&offset[group][r]),
                               wasm_v128_load(a_sums + kTile * group), row.offset);
      }
    });
    sums[r] = row;
  }

  // Lane n is row r times vector n.
  v128_t result(size_t r) const {
    const Sums& row = sums[r];
    return wasm_f32x4_add(sums_of_f32x4(row.dot[0], row.dot[1], row.dot[2], row.dot[3]), row.offset);
  }
};

template <class Isa, class F, class Encoding>
TileDot<Isa, F, Encoding> dot_quad_tile(const typename F::Block* const (&rows)[4], uint32_t cols,
                                        const uint8_t* tile) {
  const TileLayout<F, Encoding> layout(cols, kTile);
  const float* scales = reinterpret_cast<const float*>(tile);
  const float* sums = reinterpret_cast<const float*>(tile + layout.sums_at());
  TileDot<Isa, F, Encoding> dots;
  for (size_t first = 0; first < layout.groups; first += dots.kStretch) {
    const size_t n_groups = std::min(dots.kStretch, layout.groups - first);
    const size_t block = first / kGroups<F>;
    dots.convert_scales(rows, block, n_groups / kGroups<F>);
    for (size_t r = 0; r < 4; ++r) {
      dots.add_row(rows[r] + block, n_groups, r, scales + kTile * first, sums + kTile * first,
                   tile + layout.quants_at() + kTile * first * layout.kGroupBytes);
    }
  }
  return dots;
}

template <class Isa, class F, class Encoding>
void dot_rows(const TableView& table, const RowSet& rows, const Activations& activations, float* out,
              size_t stride) {
  const Quarters quarters{rows.count};
  for_each_tile<F, Encoding>(table.cols, activations.count, activations.scratch,
                             [&](const auto& layout, size_t first, const uint8_t* tile) {
                               const size_t vectors = std::min(layout.vectors, activations.count - first);
                               for (size_t i = 0; i < quarters.length; ++i) {
                                 const typename F::Block* quad[4];
                                 for (size_t r = 0; r < 4; ++r)
                                   quad[r] = row_blocks<F>(table, rows[quarters.row(i, r)]);
                                 float* to = out + first * stride;
                                 if (layout.vectors == 1) {
                                   quarters.store(dot_quad<Isa, F, Encoding>(quad, table.cols, tile), i, to);
                                 } else {
                                   const auto dots = dot_quad_tile<Isa, F, Encoding>(quad, table.cols, tile);
                                   for (size_t r = 0; r < 4; ++r)
                                     quarters.store_row(dots.result(r), i, r, vectors, to, stride);
                                 }
                               }
                             });
}

}  // namespace id2vec::v128
