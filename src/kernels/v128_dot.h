// Dot products on the quants as they lie in the table: integers times integers within a group, floats between groups
// (formula: v128_activations.h). Four rows are worked on at a time, so that four scales are converted in one vector;
// lane r of such a vector belongs to row r.
//
//   one vector                  straight from the table
//   several, or a rare format   a stretch of 256 columns of four rows is unpacked to bytes and float scales, which stay
//                               in the first-level cache; what follows is compiled once for all formats of a Shape
#pragma once

#include <algorithm>

#include "kernels/decode.h"
#include "kernels/v128_activations.h"
#include "kernels/v128_quarters.h"

namespace id2vec::v128 {

// A group's raw quants, ready to be multiplied with any number of vectors; dot() is Σ raw·a, spread over four lanes.
template <class Isa, class S, class Encoding = typename S::Encoding>
struct Quants;

template <class Isa, class S>
struct Quants<Isa, S, Int16> {
  v128_t w_i16x8[2 * S::kVectors];

  static Quants of(const uint8_t* raw) {
    Quants quants;
    unrolled<S::kVectors>([&]<size_t i>() ID2VEC_INLINE {
      widen<S::kOrder>(wasm_v128_load(raw + 16 * i), quants.w_i16x8[2 * i], quants.w_i16x8[2 * i + 1]);
    });
    return quants;
  }
  template <PackedFormat F>
  static Quants of(const typename F::Block& block, size_t group) {
    Quants quants;
    widened<F>(block, group, quants.w_i16x8);
    return quants;
  }
  v128_t dot(const uint8_t* a) const {
    v128_t sum;
    unrolled<2 * S::kVectors>([&]<size_t i>() ID2VEC_INLINE {
      const v128_t products = wasm_i32x4_dot_i16x8(w_i16x8[i], wasm_v128_load(a + 16 * i));
      sum = i == 0 ? products : wasm_i32x4_add(sum, products);
    });
    return sum;
  }
};

template <class Isa, class S>
struct Quants<Isa, S, Int8> {
  v128_t raw_i8x16[S::kVectors];

  static Quants of(const uint8_t* raw) {
    Quants quants;
    for (size_t i = 0; i < S::kVectors; ++i) quants.raw_i8x16[i] = wasm_v128_load(raw + 16 * i);
    return quants;
  }
  template <PackedFormat F>
  static Quants of(const typename F::Block& block, size_t group) {
    Quants quants;
    F::raw(block, group, quants.raw_i8x16);
    return quants;
  }
  // 63 · 127 · 2 · 2 < 2^15: the products of four pairs fit 16 bits.
  v128_t dot(const uint8_t* a) const {
    v128_t sum;
    unrolled<S::kVectors>([&]<size_t i>() ID2VEC_INLINE {
      const v128_t products = Isa::dot_i16x8(wasm_v128_load(a + 16 * i), raw_i8x16[i]);
      sum = i == 0 ? products : wasm_i16x8_add(sum, products);
    });
    return wasm_i32x4_dot_i16x8(sum, pinned_i32x4<0x00010001>());
  }
};

// What multiplies t·Σ a: the format's offset, and −zero · scale because raw quants are never below 0.
template <class Isa, class F>
v128_t offset_of_raw(v128_t scale, v128_t offset) {
  if constexpr (!F::kHasOffset && F::kZero == 0) return wasm_f32x4_splat(0);
  if constexpr (F::kZero == 0) return offset;
  const v128_t minus_zero = pinned_f32x4<float(-F::kZero)>();
  if constexpr (F::kHasOffset) return Isa::madd(scale, minus_zero, offset);
  return wasm_f32x4_mul(scale, minus_zero);
}
template <class F>
constexpr bool kOffsets = F::kHasOffset || F::kZero != 0;

// Four rows times one vector, in the making.
template <class Isa>
struct QuadSums {
  v128_t dot[4], offset;

  QuadSums() {
    for (v128_t& sum : dot) sum = wasm_f32x4_splat(0);
    offset = wasm_f32x4_splat(0);
  }
  template <size_t r>
  void add(v128_t exact_i32x4, v128_t product) {
    dot[r] = Isa::madd(wasm_f32x4_convert_i32x4(exact_i32x4), broadcast<r>(product), dot[r]);
  }
  // Lane r belongs to row r.
  v128_t result() const { return wasm_f32x4_add(sums_of_f32x4(dot[0], dot[1], dot[2], dot[3]), offset); }
};

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

// Straight from the table.
template <class Isa, class F, class S>
v128_t dot_quad(const typename F::Block* const (&rows)[4], uint32_t cols, const uint8_t* tile) {
  const TileLayout<S> layout(cols, 1);
  const float* scales = reinterpret_cast<const float*>(tile);
  const float* sums = reinterpret_cast<const float*>(tile + layout.sums_at());
  const uint8_t* a = tile + layout.quants_at();
  QuadSums<Isa> quad;
  for (size_t b = 0; b < layout.groups / kGroups<F>; ++b) {
    const typename F::Block* const blocks[4] = {rows[0] + b, rows[1] + b, rows[2] + b, rows[3] + b};
    const BlockScales<F> converted(blocks);
    const auto& [scale, offset] = *in_memory(&converted);
    for_each_group<F>(kGroups<F>, [&](size_t group) ID2VEC_INLINE {
      const v128_t product = wasm_f32x4_mul(scale[group], wasm_v128_load32_splat(scales++));
      unrolled<4>([&]<size_t r>() ID2VEC_INLINE {
        quad.template add<r>(Quants<Isa, S>::template of<F>(*blocks[r], group).dot(a), product);
      });
      if constexpr (kOffsets<F>) {
        const v128_t factor = offset_of_raw<Isa, F>(scale[group], offset[group]);
        quad.offset = Isa::madd(factor, wasm_v128_load32_splat(sums++), quad.offset);
      }
      a += S::kGroupBytes;
    });
  }
  return quad.result();
}

// 256 columns of four rows, unpacked.
struct Stretch {
  static constexpr size_t kCols = 256, kGroups = kCols / 16;
  alignas(16) uint8_t raw[4][kCols];
  alignas(16) float scale[kGroups][4];   // [group][row]
  alignas(16) float offset[kGroups][4];  // offset_of_raw()
};

// Fills a stretch with `n_groups` groups of the rows, from `first_group` on; both whole blocks.
using LoadStretch = void (*)(const uint8_t* const (&rows)[4], size_t first_group, size_t n_groups,
                             Stretch& to);

template <class F>
void load_raw(const typename F::Block* blocks, size_t n_blocks, uint8_t* to) {
  for (size_t b = 0; b < n_blocks; ++b) {
    for_each_group<F>(kGroups<F>, [&](size_t group) ID2VEC_INLINE {
      v128_t raw[kVectors<F>];
      F::raw(blocks[b], group, raw);
      for (size_t i = 0; i < kVectors<F>; ++i) wasm_v128_store(to + group * F::kGroupSize + 16 * i, raw[i]);
    });
    to += F::kBlockSize;
  }
}

template <class Isa, PackedFormat F>
[[gnu::noinline]] void load_stretch(const uint8_t* const (&rows)[4], size_t first_group, size_t n_groups,
                                    Stretch& to) {
  const typename F::Block* blocks[4];
  for (size_t r = 0; r < 4; ++r) {
    blocks[r] = reinterpret_cast<const typename F::Block*>(rows[r]) + first_group / kGroups<F>;
    load_raw<F>(blocks[r], n_groups / kGroups<F>, to.raw[r]);
  }
  for (size_t at = 0; at < n_groups; at += kGroups<F>) {
    const BlockScales<F> converted(blocks);
    const auto& [scale, offset] = converted;
    for (size_t group = 0; group < kGroups<F>; ++group) {
      wasm_v128_store(to.scale[at + group], scale[group]);
      const v128_t factor = offset_of_raw<Isa, F>(scale[group], offset[group]);
      wasm_v128_store(to.offset[at + group], factor);
    }
    for (const typename F::Block*& block : blocks) ++block;
  }
}

// A tile's scales, sums and integers from some group on.
template <class S>
struct TileView {
  const float* scales;
  const float* sums;
  const uint8_t* a;

  TileView(const TileLayout<S>& layout, const uint8_t* tile, size_t first_group)
      : scales(reinterpret_cast<const float*>(tile) + first_group * layout.vectors),
        sums(reinterpret_cast<const float*>(tile + layout.sums_at()) + first_group * layout.vectors),
        a(tile + layout.quants_at() + first_group * layout.vectors * S::kGroupBytes) {}
};

// A stretch times one vector.
template <class Isa, class S>
void add_stretch(const Stretch& stretch, size_t n_groups, TileView<S> tile, QuadSums<Isa>& quad) {
  for (size_t group = 0; group < n_groups; ++group) {
    const v128_t product =
        wasm_f32x4_mul(wasm_v128_load(stretch.scale[group]), wasm_v128_load32_splat(tile.scales + group));
    unrolled<4>([&]<size_t r>() ID2VEC_INLINE {
      const uint8_t* raw = stretch.raw[r] + group * S::kGroupSize;
      quad.template add<r>(Quants<Isa, S>::of(raw).dot(tile.a + group * S::kGroupBytes), product);
    });
    quad.offset = Isa::madd(wasm_v128_load(stretch.offset[group]), wasm_v128_load32_splat(tile.sums + group),
                            quad.offset);
  }
}

// Row r of a stretch times a tile of four vectors; lane n belongs to vector n.
template <class Isa, class S>
void add_stretch_row(const Stretch& stretch, size_t n_groups, size_t r, TileView<S> tile,
                     QuadSums<Isa>& sums) {
  QuadSums<Isa> row = sums;
  for (size_t group = 0; group < n_groups; ++group) {
    const auto quants = Quants<Isa, S>::of(stretch.raw[r] + group * S::kGroupSize);
    const v128_t product = wasm_f32x4_mul(wasm_v128_load32_splat(&stretch.scale[group][r]),
                                          wasm_v128_load(tile.scales + kTile * group));
    unrolled<kTile>([&]<size_t n>() ID2VEC_INLINE {
      row.template add<n>(quants.dot(tile.a + (kTile * group + n) * S::kGroupBytes), product);
    });
    row.offset = Isa::madd(wasm_v128_load32_splat(&stretch.offset[group][r]),
                           wasm_v128_load(tile.sums + kTile * group), row.offset);
  }
  sums = row;
}

// Four rows times one vector (whose result is in sums[0]) or four (row r's results are in sums[r]).
template <class Isa, class S>
[[gnu::noinline]] void dot_unpacked(LoadStretch load, const uint8_t* const (&rows)[4],
                                    const TileLayout<S>& layout, const uint8_t* tile,
                                    QuadSums<Isa> (&sums)[4]) {
  constexpr size_t kStep = Stretch::kCols / S::kGroupSize;
  Stretch stretch;
  for (size_t first = 0; first < layout.groups; first += kStep) {
    const size_t n_groups = std::min(kStep, layout.groups - first);
    load(rows, first, n_groups, stretch);
    const TileView<S> view(layout, tile, first);
    if (layout.vectors == 1) {
      add_stretch<Isa, S>(stretch, n_groups, view, sums[0]);
    } else {
      for (size_t r = 0; r < 4; ++r) add_stretch_row<Isa, S>(stretch, n_groups, r, view, sums[r]);
    }
  }
}

template <class Isa, class S>
[[gnu::noinline]] void dot_rows_unpacked(LoadStretch load, const TableView& table, const RowSet& rows,
                                         const TileLayout<S>& layout, const uint8_t* tile, size_t vectors,
                                         float* out, size_t stride) {
  const Quarters quarters{rows.count};
  const Plane& plane = table.planes[0];
  for (size_t i = 0; i < quarters.length; ++i) {
    const uint8_t* quad[4];
    for (size_t r = 0; r < 4; ++r) quad[r] = plane.data + rows[quarters.row(i, r)] * plane.row_bytes;
    QuadSums<Isa> sums[4];
    dot_unpacked<Isa, S>(load, quad, layout, tile, sums);
    if (layout.vectors == 1) {
      quarters.store(sums[0].result(), i, out);
    } else {
      for (size_t r = 0; r < 4; ++r) quarters.store_row(sums[r].result(), i, r, vectors, out, stride);
    }
  }
}

template <class Isa, class F, class S>
void dot_rows_directly(const TableView& table, const RowSet& rows, const uint8_t* tile, float* out) {
  const Quarters quarters{rows.count};
  for (size_t i = 0; i < quarters.length; ++i) {
    const typename F::Block* quad[4];
    for (size_t r = 0; r < 4; ++r) quad[r] = row_blocks<F>(table, rows[quarters.row(i, r)]);
    quarters.store(dot_quad<Isa, F, S>(quad, table.cols, tile), i, out);
  }
}

template <class Isa, class F, class S>
void dot_rows(const TableView& table, const RowSet& rows, const Activations& activations, float* out,
              size_t stride) {
  for_each_tile<S>(table.cols, activations.count, activations.scratch,
                   [&](const TileLayout<S>& layout, size_t first, const uint8_t* tile) {
                     float* to = out + first * stride;
                     if constexpr (!kRare<F>) {
                       if (layout.vectors == 1) return dot_rows_directly<Isa, F, S>(table, rows, tile, to);
                     }
                     const size_t vectors = std::min(layout.vectors, activations.count - first);
                     dot_rows_unpacked<Isa, S>(load_stretch<Isa, F>, table, rows, layout, tile, vectors, to,
                                               stride);
                   });
}

}  // namespace id2vec::v128
