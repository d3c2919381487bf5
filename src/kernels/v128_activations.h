// Hidden vectors as integers. Each group of 16 or 32 values, as many as weights share a scale, is quantized on its
// own: h[i] ≈ t · a[i] with t = max |h| / max_of(encoding), and a[i] rounded to nearest, ties to even. Then, for weights
// w[i] = s · (raw[i] − zero) + o,
//
//   ⟨group of w, group of h⟩ ≈ (s·t) · Σ raw·a + (o − s·zero) · (t·Σ a)
//
// Σ raw·a is exact in 32-bit integers. `sums` holds t·Σ a; `starts` holds −zero · Σ a, so that a sum that begins there is
// Σ (raw − zero)·a. |error| ≤ max |h| / (2·max_of(encoding)) · Σ |w| of the group.
//
// A vector goes alone, or four or eight go together: then words of four bytes of the vectors take turns, so that a lane
// of 32 bits belongs to a vector. A tile of T vectors (T = 1, 4 or 8) in memory, every part 16-byte aligned:
//
//   float scales[groups][T], float sums[groups][T], int starts[groups][T], a[groups][words of a group][T]
#pragma once

#include <algorithm>

#include "kernels/kernels.h"
#include "kernels/v128_packed.h"

namespace id2vec::v128 {

constexpr size_t kQuad = 4, kMaxTile = 8;

enum class Encoding : uint8_t {
  kInt16,         // a[i] at 16 bits, in order
  kInt16EvenOdd,  // the same, of 16 the eight at even places first
  kInt8,          // a[i] at 8 bits
  kTwoInt8,       // a[i] = low[i] + 256 · high[i]: the group's low bytes, then its high ones, all signed
};

// |low| and |high| stay in the range of a signed byte up to 127 · 256 + 127.
constexpr int32_t max_of(Encoding encoding) {
  return encoding == Encoding::kInt8 ? 127 : encoding == Encoding::kTwoInt8 ? 32639 : 32767;
}
constexpr size_t bytes_of(Encoding encoding) { return encoding == Encoding::kInt8 ? 1 : 2; }

inline size_t padded(size_t bytes) { return (bytes + 15) / 16 * 16; }

// How a tile of vectors is laid out.
struct TileLayout {
  size_t vectors;      // 1, 4 or 8
  size_t groups;
  size_t group_bytes;  // of one vector
  Encoding encoding;

  size_t sums_at() const { return padded(groups * vectors * sizeof(float)); }
  size_t starts_at() const { return 2 * sums_at(); }
  size_t quants_at() const { return 3 * sums_at(); }
  size_t bytes() const { return quants_at() + groups * vectors * group_bytes; }
};

// A tile from some group on.
struct TileView {
  const float* scales;
  const float* sums;
  const int32_t* starts;
  const uint8_t* a;

  TileView(const TileLayout& layout, const uint8_t* tile, size_t first_group = 0)
      : scales(reinterpret_cast<const float*>(tile) + first_group * layout.vectors),
        sums(reinterpret_cast<const float*>(tile + layout.sums_at()) + first_group * layout.vectors),
        starts(reinterpret_cast<const int32_t*>(tile + layout.starts_at()) + first_group * layout.vectors),
        a(tile + layout.quants_at() + first_group * layout.vectors * layout.group_bytes) {}
};

// Width of the tile that the first of `vectors` vectors go to; some of its vectors may be missing.
constexpr size_t tile_width(size_t vectors) { return vectors == 1 ? 1 : vectors <= kQuad ? kQuad : kMaxTile; }

// Four values as integers. (A NaN becomes 0 here, and reaches the result through its scale.)
inline v128_t quantize_i32x4(const float* from, v128_t inverse) {
  return wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(wasm_f32x4_mul(wasm_v128_load(from), inverse)));
}

// Eight values at 16 bits, added up in `sum`.
inline v128_t quantize_i16x8(const float* from, v128_t inverse, v128_t& sum_i32x4) {
  const v128_t a = quantize_i32x4(from, inverse), b = quantize_i32x4(from + 4, inverse);
  sum_i32x4 = wasm_i32x4_add(sum_i32x4, wasm_i32x4_add(a, b));
  return wasm_i16x8_narrow_i32x4(a, b);
}

// The four words of a vector, `stride` words apart.
inline void store_words(v128_t words, size_t stride, uint32_t* to) {
  wasm_v128_store32_lane(to, words, 0);
  wasm_v128_store32_lane(to + stride, words, 1);
  wasm_v128_store32_lane(to + 2 * stride, words, 2);
  wasm_v128_store32_lane(to + 3 * stride, words, 3);
}

// Values i … i + 15 of a group, the first eight and the last eight at 16 bits; `to` is where the group begins.
inline void store_encoded(v128_t first, v128_t last, size_t i, const TileLayout& layout, uint32_t* to) {
  const size_t stride = layout.vectors;
  switch (layout.encoding) {
    case Encoding::kInt8:
      store_words(wasm_i8x16_narrow_i16x8(first, last), stride, to + i / 4 * stride);
      return;
    case Encoding::kTwoInt8: {
      const v128_t half = wasm_i16x8_splat(128);
      const v128_t first_high = wasm_i16x8_shr(wasm_i16x8_add(first, half), 8);
      const v128_t last_high = wasm_i16x8_shr(wasm_i16x8_add(last, half), 8);
      const v128_t first_low = wasm_i16x8_sub(first, wasm_i16x8_shl(first_high, 8));
      const v128_t last_low = wasm_i16x8_sub(last, wasm_i16x8_shl(last_high, 8));
      store_words(wasm_i8x16_narrow_i16x8(first_low, last_low), stride, to + i / 4 * stride);
      to += layout.group_bytes / 8 * stride;
      store_words(wasm_i8x16_narrow_i16x8(first_high, last_high), stride, to + i / 4 * stride);
      return;
    }
    case Encoding::kInt16EvenOdd: {
      const v128_t even = wasm_i16x8_shuffle(first, last, 0, 2, 4, 6, 8, 10, 12, 14);
      last = wasm_i16x8_shuffle(first, last, 1, 3, 5, 7, 9, 11, 13, 15);
      first = even;
      break;
    }
    case Encoding::kInt16: break;
  }
  store_words(first, stride, to + i / 2 * stride);
  store_words(last, stride, to + (i / 2 + 4) * stride);
}

inline float max_magnitude(const float* group, size_t size) {
  v128_t greatest = wasm_f32x4_splat(0);
  for (size_t i = 0; i < size; i += 4) {
    greatest = wasm_f32x4_max(greatest, wasm_f32x4_abs(wasm_v128_load(group + i)));  // keeps a NaN
  }
  greatest = wasm_f32x4_max(greatest, wasm_i32x4_shuffle(greatest, greatest, 2, 3, 0, 1));
  greatest = wasm_f32x4_max(greatest, wasm_i32x4_shuffle(greatest, greatest, 1, 0, 3, 2));
  return wasm_f32x4_extract_lane(greatest, 0);
}

inline int32_t sum_of_i32x4(v128_t v) {
  v = wasm_i32x4_add(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
  return wasm_i32x4_extract_lane(v, 0) + wasm_i32x4_extract_lane(v, 1);
}

// One group of one vector; returns Σ a.
inline int32_t quantize_group(const float* from, size_t size, const TileLayout& layout, float& scale,
                              uint32_t* to) {
  const float greatest = max_magnitude(from, size), max = float(max_of(layout.encoding));
  scale = greatest / max;
  // An infinity makes the scale infinite and the result NaN, as the exact product may be.
  const v128_t inverse = wasm_f32x4_splat(greatest > 0 ? max / greatest : 0.0f);
  v128_t sum_i32x4 = wasm_i32x4_splat(0);
  for (size_t i = 0; i < size; i += 16) {
    const v128_t first = quantize_i16x8(from + i, inverse, sum_i32x4);
    const v128_t last = quantize_i16x8(from + i + 8, inverse, sum_i32x4);
    store_encoded(first, last, i, layout, to);
  }
  return sum_of_i32x4(sum_i32x4);
}

// Vector `lane` of a tile.
[[clang::minsize, gnu::noinline]] inline void prepare_vector(const float* hidden, size_t group_size,
                                                             int32_t zero, const TileLayout& layout,
                                                             size_t lane, uint8_t* tile) {
  float* scales = reinterpret_cast<float*>(tile) + lane;
  float* sums = reinterpret_cast<float*>(tile + layout.sums_at()) + lane;
  int32_t* starts = reinterpret_cast<int32_t*>(tile + layout.starts_at()) + lane;
  uint32_t* a = reinterpret_cast<uint32_t*>(tile + layout.quants_at()) + lane;
  for (size_t group = 0; group < layout.groups; ++group) {
    const size_t i = group * layout.vectors;
    const int32_t sum = quantize_group(hidden + group * group_size, group_size, layout, scales[i],
                                       a + i * layout.group_bytes / 4);
    sums[i] = scales[i] * float(sum);
    starts[i] = -zero * sum;
  }
}

// The first of `count` vectors, as many as the tile is wide. One that is missing is computed as the last one is and
// thrown away.
inline void prepare_tile(const TileLayout& layout, uint32_t cols, size_t group_size, int32_t zero,
                         const float* hidden, size_t count, uint8_t* tile) {
  for (size_t i = 0; i < layout.vectors; ++i) {
    prepare_vector(hidden + std::min(i, count - 1) * cols, group_size, zero, layout, i, tile);
  }
}

}  // namespace id2vec::v128
