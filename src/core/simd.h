// 128-bit vectors: the WebAssembly intrinsics (natively through SIMDe), and what several formats and kernels
// need on top of them. Names of vectors carry their lanes: sum_f32x4, low_i16x8.
#pragma once

#include <wasm_simd128.h>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace id2vec {

inline const void* unknown_origin(const void* address) {
#ifdef __wasm__
  asm("" : "+r"(address));
#endif
  return address;
}

// A constant that stays in its register, loaded once before the loop that uses it. A v128.const would be built anew,
// with three instructions, wherever it stands in the code (V8 14), and compilers put it inside the loop; of a load
// from an address of unknown origin they know no better than to keep its result.
template <uint32_t kBits>
v128_t pinned_i32x4() {
  static constexpr uint32_t kWord = kBits;
  return wasm_v128_load32_splat(unknown_origin(&kWord));
}
template <float kValue>
v128_t pinned_f32x4() {
  return pinned_i32x4<std::bit_cast<uint32_t>(kValue)>();
}

// {a[0], a[1], a[2], a[3]} of four 32-bit words at any alignment.
inline v128_t load_words(const void* a, const void* b, const void* c, const void* d) {
  v128_t words = wasm_v128_load32_zero(a);
  words = wasm_v128_load32_lane(b, words, 1);
  words = wasm_v128_load32_lane(c, words, 2);
  return wasm_v128_load32_lane(d, words, 3);
}

// Four 16-bit numbers, zero-extended to 32 bits.
inline v128_t load_shorts(const void* a, const void* b, const void* c, const void* d) {
  v128_t shorts = wasm_i32x4_splat(0);
  shorts = wasm_v128_load16_lane(a, shorts, 0);
  shorts = wasm_v128_load16_lane(b, shorts, 2);
  shorts = wasm_v128_load16_lane(c, shorts, 4);
  return wasm_v128_load16_lane(d, shorts, 6);
}

// F16 in the low halves of four 32-bit lanes → float, exact for every encoding: f16_to_float() of core/half.h.
// An F16 moved to the place of a float's fields is the number times 2^-112, subnormals included; only infinity and
// NaN need their exponent set.
inline v128_t f16_to_f32x4(v128_t half_i32x4) {
  const v128_t moved = wasm_v128_and(wasm_i32x4_shr(wasm_i32x4_shl(half_i32x4, 16), 3), pinned_i32x4<0x8fffe000>());
  const v128_t value = wasm_f32x4_mul(moved, pinned_f32x4<0x1p112f>());
  const v128_t exponent = pinned_i32x4<0x0f800000>();
  const v128_t special = wasm_i32x4_eq(wasm_v128_and(moved, exponent), exponent);
  return wasm_v128_or(value, wasm_v128_and(special, pinned_i32x4<0x7f800000>()));
}

// Lane i of the result is the sum of the lanes of vector i.
inline v128_t sums_of_f32x4(v128_t a, v128_t b, v128_t c, v128_t d) {
  const v128_t ab = wasm_f32x4_add(wasm_i32x4_shuffle(a, b, 0, 4, 1, 5), wasm_i32x4_shuffle(a, b, 2, 6, 3, 7));
  const v128_t cd = wasm_f32x4_add(wasm_i32x4_shuffle(c, d, 0, 4, 1, 5), wasm_i32x4_shuffle(c, d, 2, 6, 3, 7));
  return wasm_f32x4_add(wasm_i64x2_shuffle(ab, cd, 0, 2), wasm_i64x2_shuffle(ab, cd, 1, 3));
}

// All four lanes become lane `lane`.
template <size_t lane>
v128_t broadcast(v128_t vector) {
  return wasm_i32x4_shuffle(vector, vector, lane, lane, lane, lane);
}

}  // namespace id2vec
