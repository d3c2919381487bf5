// Hidden vectors as integers. Each group of 16 or 32 values, as many as weights share a scale, is quantized on its
// own: h[i] ≈ t · a[i] with t = max |h| / kMax, and a[i] rounded to nearest, ties to even. Then, for weights
// w[i] = s · (raw[i] − zero) + o,
//
//   ⟨group of w, group of h⟩ ≈ (s·t) · Σ raw·a + (o − s·zero) · (t·Σ a)
//
// Σ raw·a is exact in 32-bit integers; `sums` holds t·Σ a. |error| ≤ max |h| / (2·kMax) · Σ |w| of the group.
//
// Vectors come in tiles of four, which share the decoding of a row, and single. A tile of T vectors in memory, every
// part 16-byte aligned:  float scales[groups][T], float sums[groups][T], a[groups][T][group size].
#pragma once

#include "kernels/kernels.h"
#include "kernels/v128_packed.h"

namespace id2vec::v128 {

constexpr size_t kTile = 4;

inline size_t padded(size_t bytes) { return (bytes + 15) / 16 * 16; }

// Vectors from `first` on that go together: a tile of four, one of which may be missing or even two, or one alone.
inline size_t tile_size(size_t first, size_t count) { return count - first == 1 ? 1 : kTile; }

// Four values as integers. (A NaN becomes 0 here, and reaches the result through its scale.)
inline v128_t quantize_i32x4(const float* from, v128_t inverse) {
  return wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(wasm_f32x4_mul(wasm_v128_load(from), inverse)));
}

// 16 values as two vectors of 16-bit numbers, the first eight and the last eight, added up in `sum`.
inline void quantize_i16x8(const float* from, v128_t inverse, v128_t& first, v128_t& last,
                           v128_t& sum_i32x4) {
  const v128_t a = quantize_i32x4(from, inverse), b = quantize_i32x4(from + 4, inverse);
  const v128_t c = quantize_i32x4(from + 8, inverse), d = quantize_i32x4(from + 12, inverse);
  sum_i32x4 = wasm_i32x4_add(sum_i32x4, wasm_i32x4_add(wasm_i32x4_add(a, b), wasm_i32x4_add(c, d)));
  first = wasm_i16x8_narrow_i32x4(a, b);
  last = wasm_i16x8_narrow_i32x4(c, d);
}

// a[i] at 16 bits, in the order of the widened weights.
struct Int16 {
  static constexpr int32_t kMax = 32767;
  static constexpr size_t kBytes = 2;

  template <Order order>
  static void store(v128_t first, v128_t last, uint8_t* to) {
    if constexpr (order == Order::kEvenOdd) {
      const v128_t even = wasm_i16x8_shuffle(first, last, 0, 2, 4, 6, 8, 10, 12, 14);
      last = wasm_i16x8_shuffle(first, last, 1, 3, 5, 7, 9, 11, 13, 15);
      first = even;
    }
    wasm_v128_store(to, first);
    wasm_v128_store(to + 16, last);
  }
};

// a[i] at 8 bits, in the order of the raw weights.
struct Int8 {
  static constexpr int32_t kMax = 127;
  static constexpr size_t kBytes = 1;

  template <Order>
  static void store(v128_t first, v128_t last, uint8_t* to) {
    wasm_v128_store(to, wasm_i8x16_narrow_i16x8(first, last));
  }
};

// All that activations have to know about a format. What is the same for two formats is compiled once for both.
template <size_t group_size, Order order, class E>
struct Shape {
  using Encoding = E;
  static constexpr size_t kGroupSize = group_size;
  static constexpr size_t kVectors = group_size / 16;
  static constexpr Order kOrder = order;
  static constexpr size_t kGroupBytes = group_size * E::kBytes;
};
template <class F, class Encoding>
using ShapeOf = Shape<F::kGroupSize, kOrder<F>, Encoding>;

// Where the parts of a tile of T vectors lie.
template <class S>
struct TileLayout {
  size_t groups;
  size_t vectors;  // T

  TileLayout(uint32_t cols, size_t vectors) : groups(cols / S::kGroupSize), vectors(vectors) {}
  size_t sums_at() const { return padded(groups * vectors * sizeof(float)); }
  size_t quants_at() const { return 2 * sums_at(); }
  size_t bytes() const { return quants_at() + groups * vectors * S::kGroupBytes; }
};

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

// One group of one vector.
template <class S>
void quantize_group(const float* from, float& scale, float& sum, uint8_t* to) {
  using Encoding = typename S::Encoding;
  const float greatest = max_magnitude(from, S::kGroupSize);
  scale = greatest / Encoding::kMax;
  // An infinity makes the scale infinite and the result NaN, as the exact product may be.
  const v128_t inverse = wasm_f32x4_splat(greatest > 0 ? Encoding::kMax / greatest : 0.0f);
  v128_t sum_i32x4 = wasm_i32x4_splat(0);
  for (size_t i = 0; i < S::kGroupSize; i += 16) {
    v128_t first, last;
    quantize_i16x8(from + i, inverse, first, last, sum_i32x4);
    Encoding::template store<S::kOrder>(first, last, to + i * Encoding::kBytes);
  }
  sum = scale * float(sum_of_i32x4(sum_i32x4));
}

// Vector `lane` of a tile.
template <class S>
void prepare_vector(const float* hidden, const TileLayout<S>& layout, size_t lane, uint8_t* tile) {
  float* scales = reinterpret_cast<float*>(tile);
  float* sums = reinterpret_cast<float*>(tile + layout.sums_at());
  for (size_t group = 0; group < layout.groups; ++group) {
    const size_t at = group * layout.vectors + lane;
    quantize_group<S>(hidden + group * S::kGroupSize, scales[at], sums[at],
                      tile + layout.quants_at() + at * S::kGroupBytes);
  }
}

// Where tile follows tile: body(layout, first vector, address) for each.
template <class S, class Address, class Body>
void for_each_tile(uint32_t cols, size_t count, Address* scratch, Body&& body) {
  for (size_t first = 0; first < count;) {
    const TileLayout<S> layout(cols, tile_size(first, count));
    body(layout, first, scratch);
    scratch += layout.bytes();
    first += layout.vectors;
  }
}

template <class S>
[[gnu::noinline]] size_t scratch_bytes(uint32_t cols, size_t count) {
  const size_t rest = count % kTile == 0 ? 0 : TileLayout<S>(cols, tile_size(0, count % kTile)).bytes();
  return count / kTile * TileLayout<S>(cols, kTile).bytes() + rest;
}

template <class S>
[[gnu::noinline]] void prepare(uint32_t cols, const float* hidden, size_t count, uint8_t* scratch) {
  for_each_tile<S>(cols, count, scratch, [&](const TileLayout<S>& layout, size_t first, uint8_t* tile) {
    for (size_t lane = 0; lane < layout.vectors; ++lane) {
      // A vector that is missing is computed as its neighbour and thrown away.
      const size_t vector = first + lane < count ? first + lane : count - 1;
      prepare_vector<S>(hidden + vector * cols, layout, lane, tile);
    }
  });
}

}  // namespace id2vec::v128
