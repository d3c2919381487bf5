// Four rows at a time, a quarter of the block of rows apart: each quarter is a stream of its own, which the hardware
// prefetcher follows. (It gives up on four rows side by side, which share pages: 2 to 3 times slower from memory.)
#pragma once

#include <algorithm>

#include "core/simd.h"

namespace id2vec::v128 {

struct Quarters {
  size_t count;                     // of rows
  size_t length = (count + 3) / 4;  // of a quarter

  // The last row stands in for those that the last quarter lacks.
  size_t row(size_t i, size_t quarter) const { return std::min(quarter * length + i, count - 1); }

  // Lane r is the score of row(i, r).
  void store(v128_t scores_f32x4, size_t i, float* out) const {
    float lanes[4];
    wasm_v128_store(lanes, scores_f32x4);
    for (size_t r = 0; r < 4; ++r) out[row(i, r)] = lanes[r];
  }

  // The scores of row(i, r) with `vectors` vectors.
  void store_row(const float* scores, size_t i, size_t r, size_t vectors, float* out, size_t stride) const {
    float* to = out + row(i, r);
#pragma clang loop unroll(disable)
    for (size_t n = 0; n < vectors; ++n, to += stride) *to = scores[n];
  }
  void store_row(v128_t scores_f32x4, size_t i, size_t r, float* out, size_t stride) const {
    float lanes[4];
    wasm_v128_store(lanes, scores_f32x4);
    store_row(lanes, i, r, 4, out, stride);
  }
};

}  // namespace id2vec::v128
