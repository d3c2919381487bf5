// Rows decoded to floats, piece by piece. The scalar table is made of nothing else; the SIMD tables use it for formats
// that are too rare to deserve code of their own.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/kernels.h"

namespace id2vec {

// A multiple of every block size. 1 KiB of floats: on the stack, in the first-level cache.
constexpr uint32_t kPiece = 256;

template <class F>
const typename F::Block* row_blocks(const TableView& table, uint64_t row) {
  return reinterpret_cast<const typename F::Block*>(table.planes[0].data + row * table.planes[0].row_bytes);
}

inline AffineRow affine_row(const TableView& table, uint64_t row) {
  const auto& [quants, scales, offsets] = table.planes;
  return {quants.data + row * quants.row_bytes, scales.data + row * scales.row_bytes,
          offsets.data + row * offsets.row_bytes, &table.affine};
}

template <class F>
[[clang::minsize, gnu::noinline]] void decode_values(const TableView& table, uint64_t row, uint32_t first,
                                                     uint32_t count, float* out) {
  if constexpr (PlanarFormat<F>) {
    const AffineRow planes = affine_row(table, row);
    for (uint32_t i = 0; i < count; ++i) out[i] = F::value(planes, first + i);
  } else {
    const typename F::Block* blocks = row_blocks<F>(table, row) + first / F::kBlockSize;
    for (uint32_t i = 0; i < count; ++i) out[i] = F::value(blocks[i / F::kBlockSize], i % F::kBlockSize);
  }
}

// Decoding a row through value() costs ten times as much as copying it, so a row that is in the output already is
// copied from there. (Kernels with code of their own decode as fast as they copy.)
[[gnu::noinline]] inline void gather_decoded(const FormatKernels& format, const TableView& table,
                                             const uint32_t* ids, size_t count, float* out) {
  constexpr size_t kRemembered = 256;
  uint32_t last[kRemembered] = {};  // where an id of this remainder stood last; ids[0] until then
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t before = std::exchange(last[ids[i] % kRemembered], i);
    float* row = out + size_t(i) * table.cols;
    if (i != 0 && ids[before] == ids[i]) {
      std::memcpy(row, out + size_t(before) * table.cols, table.cols * sizeof(float));
    } else {
      format.decode(table, ids[i], 0, table.cols, row);
    }
  }
}

inline size_t no_scratch(const FormatKernels&, const TableView&, size_t, Precision) { return 0; }
inline void no_preparation(const FormatKernels&, const TableView&, const float*, size_t, Precision,
                           uint8_t*) {}

}  // namespace id2vec
