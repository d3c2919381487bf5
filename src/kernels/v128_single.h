// Four rows times one vector, on the quants as they lie in the table: four scales are converted in one vector, each
// load of activations serves four rows, and lane r of a result belongs to row r.
#pragma once

#include "kernels/v128_packing.h"
#include "kernels/v128_quarters.h"

namespace id2vec::v128 {

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
  v128_t result() const { return wasm_f32x4_add(sums_of_f32x4(dot[0], dot[1], dot[2], dot[3]), offset); }
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

// Scales of eight or sixteen groups are better off in memory: as variables they would be spilled there one by one.
template <class F>
const BlockScales<F>* in_memory(const BlockScales<F>* scales) {
#ifdef __wasm__
  if constexpr (kGroups<F> > 1) asm("" : "+r"(scales) : : "memory");
#endif
  return scales;
}

// Quants of at most six bits meet activations in bytes, on instruction sets that multiply bytes.
template <class Isa, class F>
constexpr bool kInBytes = Isa::kDotI7 && kSixBits<F>;

// How one vector is prepared for a format.
template <class Isa, class F>
constexpr Encoding encoding_for_one(Precision precision) {
  if (kRare<F>) return Encoding::kInt16;
  if (kInBytes<Isa, F>) return precision == Precision::kFast ? Encoding::kInt8 : Encoding::kTwoInt8;
  return kOrder<F> == Order::kHalves ? Encoding::kInt16 : Encoding::kInt16EvenOdd;
}

// Σ raw·a of a group, spread over four lanes; activations at 16 bits …
template <PackedFormat F>
v128_t dot_shorts(const typename F::Block& block, size_t group, const uint8_t* a) {
  v128_t w_i16x8[2 * kVectors<F>], sum;
  widened<F>(block, group, w_i16x8);
  unrolled<2 * kVectors<F>>([&]<size_t i>() ID2VEC_INLINE {
    const v128_t products = wasm_i32x4_dot_i16x8(w_i16x8[i], wasm_v128_load(a + 16 * i));
    sum = i == 0 ? products : wasm_i32x4_add(sum, products);
  });
  return sum;
}

// Products of a group with activations in bytes. 63 · 128 · 2 · 2 < 2^15: those of four pairs fit 16 bits.
template <class Isa, size_t n>
v128_t dot_i16x8(const v128_t (&raw_i8x16)[n], const uint8_t* a) {
  v128_t sum;
  unrolled<n>([&]<size_t i>() ID2VEC_INLINE {
    const v128_t products = Isa::dot_i16x8(wasm_v128_load(a + 16 * i), raw_i8x16[i]);
    sum = i == 0 ? products : wasm_i16x8_add(sum, products);
  });
  return sum;
}

// … or in one byte or two.
template <class Isa, PackedFormat F, class Two>
v128_t dot_bytes(const typename F::Block& block, size_t group, const uint8_t* a, Two two) {
  v128_t raw_i8x16[kVectors<F>];
  F::raw(block, group, raw_i8x16);
  const v128_t low = wasm_i32x4_dot_i16x8(dot_i16x8<Isa>(raw_i8x16, a), pinned_i32x4<0x00010001>());
  if (!two) return low;
  const v128_t high = dot_i16x8<Isa>(raw_i8x16, a + F::kGroupSize);
  return wasm_i32x4_add(low, wasm_i32x4_dot_i16x8(high, pinned_i32x4<0x01000100>()));
}

// Whether activations come as one byte or two (`two`) is known to the compiler where the code is short, and looked
// at in the loop where a second loop would weigh more than the branch costs.
template <class Isa, PackedFormat F, class Two>
v128_t dot_quad(const typename F::Block* const (&rows)[4], size_t n_blocks, TileView tile, Two two) {
  const size_t group_bytes = F::kGroupSize * (kInBytes<Isa, F> && !two ? 1 : 2);
  QuadSums<Isa> quad;
  for (size_t b = 0; b < n_blocks; ++b) {
    const typename F::Block* const blocks[4] = {rows[0] + b, rows[1] + b, rows[2] + b, rows[3] + b};
    const BlockScales<F> converted(blocks);
    const auto& [scale, offset] = *in_memory(&converted);
    for_each_group<F>(kGroups<F>, [&](size_t group) ID2VEC_INLINE {
      const v128_t product = wasm_f32x4_mul(scale[group], wasm_v128_load32_splat(tile.scales++));
      unrolled<4>([&]<size_t r>() ID2VEC_INLINE {
        if constexpr (kInBytes<Isa, F>) {
          quad.template add<r>(dot_bytes<Isa, F>(*blocks[r], group, tile.a, two), product);
        } else {
          quad.template add<r>(dot_shorts<F>(*blocks[r], group, tile.a), product);
        }
      });
      if constexpr (kOffsets<F>) {
        const v128_t factor = offset_of_raw<Isa, F>(scale[group], offset[group]);
        quad.offset = Isa::madd(factor, wasm_v128_load32_splat(tile.sums++), quad.offset);
      }
      tile.a += group_bytes;
    });
  }
  return quad.result();
}

template <class Isa, PackedFormat F, class Two>
void dot_all(const TableView& table, const RowSet& rows, const TileView& tile, float* out, Two two) {
  const Quarters quarters{rows.count};
  for (size_t i = 0; i < quarters.length; ++i) {
    const typename F::Block* quad[4];
    for (size_t r = 0; r < 4; ++r) quad[r] = row_blocks<F>(table, rows[quarters.row(i, r)]);
    quarters.store(dot_quad<Isa, F>(quad, table.cols / F::kBlockSize, tile, two), i, out);
  }
}

template <class Isa, PackedFormat F>
void dot_one(const Packing&, const TableView& table, const RowSet& rows, const TileLayout& layout,
             const uint8_t* tile, float* out) {
  const TileView view(layout, tile);
  const bool two = layout.encoding == Encoding::kTwoInt8;
  if constexpr (!kInBytes<Isa, F>) {
    dot_all<Isa, F>(table, rows, view, out, std::false_type{});
  } else if constexpr (kGroups<F> > 1) {
    dot_all<Isa, F>(table, rows, view, out, two);
  } else if (two) {
    dot_all<Isa, F>(table, rows, view, out, std::true_type{});
  } else {
    dot_all<Isa, F>(table, rows, view, out, std::false_type{});
  }
}

}  // namespace id2vec::v128
