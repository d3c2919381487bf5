// 256 columns of four rows, unpacked to bytes and float scales, which stay in the first-level cache. A format brings
// the unpacking; what is done with a stretch afterwards is compiled once for all formats.
#pragma once

#include "kernels/decode.h"
#include "kernels/v128_packed.h"

namespace id2vec::v128 {

struct Stretch {
  static constexpr size_t kCols = 256, kGroups = kCols / 16;
  alignas(16) uint8_t raw[4][kCols];     // signed: see kStretchZero
  alignas(16) float scale[kGroups][4];   // [group][row]
  alignas(16) float offset[kGroups][4];  // where the format has one
};

// Fills a stretch with `n_groups` groups of the rows, from `first_group` on; both whole blocks.
using LoadStretch = void (*)(const uint8_t* const (&rows)[4], size_t first_group, size_t n_groups,
                             Stretch& to);

// Four rows at once, for in each vector of scales lane r belongs to row r.
template <class F>
struct BlockScales {
  v128_t scale[kGroups<F>], offset[kGroups<F>];

  explicit BlockScales(const typename F::Block* const (&blocks)[4]) { F::scales(blocks, scale, offset); }
};

// The quants of a block as a stretch has them, in order.
template <class F>
ID2VEC_INLINE inline void store_raw(const typename F::Block& block, uint8_t* to) {
  for_each_group<F>(kGroups<F>, [&](size_t group) ID2VEC_INLINE {
    v128_t raw[kVectors<F>];
    F::raw(block, group, raw);
    for (size_t i = 0; i < kVectors<F>; ++i) {
      if constexpr (kStretchZero<F> != F::kZero) raw[i] = minus_zero<F::kZero>(raw[i]);
      wasm_v128_store(to + group * F::kGroupSize + 16 * i, raw[i]);
    }
  });
}

// One copy for all who ask: it is long, where groups are unrolled.
template <class F>
[[gnu::noinline]] void load_raw(const typename F::Block& block, uint8_t* to) {
  store_raw<F>(block, to);
}

template <PackedFormat F>
void load_stretch(const uint8_t* const (&rows)[4], size_t first_group, size_t n_groups, Stretch& to) {
  const typename F::Block* blocks[4];
  for (size_t r = 0; r < 4; ++r) {
    blocks[r] = reinterpret_cast<const typename F::Block*>(rows[r]) + first_group / kGroups<F>;
  }
  uint8_t* raw = to.raw[0];
#pragma clang loop unroll(disable)
  for (size_t at = 0; at < n_groups; at += kGroups<F>, raw += F::kBlockSize) {
    if constexpr (kGroups<F> == 1) {
      unrolled<4>([&]<size_t r>() ID2VEC_INLINE { store_raw<F>(*blocks[r], raw + r * Stretch::kCols); });
    } else {
#pragma clang loop unroll(disable)
      for (size_t r = 0; r < 4; ++r) load_raw<F>(*blocks[r], raw + r * Stretch::kCols);
    }
    const BlockScales<F> converted(blocks);
    for (size_t group = 0; group < kGroups<F>; ++group) {
      wasm_v128_store(to.scale[at + group], converted.scale[group]);
      if constexpr (F::kHasOffset) wasm_v128_store(to.offset[at + group], converted.offset[group]);
    }
    for (const typename F::Block*& block : blocks) ++block;
  }
}

inline const uint8_t* row_address(const TableView& table, uint64_t row) {
  return table.planes[0].data + row * table.planes[0].row_bytes;
}

}  // namespace id2vec::v128
