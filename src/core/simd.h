// 128-bit vectors: the WebAssembly intrinsics (natively through SIMDe), and what several formats and kernels
// need on top of them. Names of vectors carry their lanes: sum_f32x4, low_i16x8.
#pragma once

#include <wasm_simd128.h>

#include <bit>
#include <cstddef>
#include <cstdint>

// For the bodies of inner loops, lambdas included: a call would send every vector through memory. (Natively, where
// the code is tested and not timed, the compiler may do as it likes: that takes half the time.)
#ifdef __wasm__
#define ID2VEC_INLINE __attribute__((always_inline))
#else
#define ID2VEC_INLINE
#endif

namespace id2vec {

// An address that the compiler cannot see through.
inline const void* unknown_origin(const void* address) {
#ifdef __wasm__
  asm("" : "+r"(address));
#endif
  return address;
}

// The same for a number.
inline size_t unknown_value(size_t value) {
#ifdef __wasm__
  asm("" : "+r"(value));
#endif
  return value;
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

// Word j of each of four runs of 16 bytes: lane r of words[j] comes from run r.
inline void transpose_words(const void* a, const void* b, const void* c, const void* d, v128_t (&words)[4]) {
  const v128_t run_a = wasm_v128_load(a), run_b = wasm_v128_load(b);
  const v128_t run_c = wasm_v128_load(c), run_d = wasm_v128_load(d);
  const v128_t low_ab = wasm_i32x4_shuffle(run_a, run_b, 0, 4, 1, 5),
               high_ab = wasm_i32x4_shuffle(run_a, run_b, 2, 6, 3, 7);
  const v128_t low_cd = wasm_i32x4_shuffle(run_c, run_d, 0, 4, 1, 5),
               high_cd = wasm_i32x4_shuffle(run_c, run_d, 2, 6, 3, 7);
  words[0] = wasm_i64x2_shuffle(low_ab, low_cd, 0, 2);
  words[1] = wasm_i64x2_shuffle(low_ab, low_cd, 1, 3);
  words[2] = wasm_i64x2_shuffle(high_ab, high_cd, 0, 2);
  words[3] = wasm_i64x2_shuffle(high_ab, high_cd, 1, 3);
}

// Byte `index` of each word as a float.
inline v128_t byte_to_f32x4(v128_t words, size_t index) {
  const v128_t byte = wasm_v128_and(wasm_u32x4_shr(words, uint32_t(8 * index)), pinned_i32x4<0xff>());
  return wasm_f32x4_convert_i32x4(byte);
}
inline v128_t signed_byte_to_f32x4(v128_t words, size_t index) {
  return wasm_f32x4_convert_i32x4(wasm_i32x4_shr(wasm_i32x4_shl(words, uint32_t(24 - 8 * index)), 24));
}

// F16 in the low halves of four 32-bit lanes → float, exact for every encoding: f16_to_float() of core/half.h.
// The upper halves are 0.
//
// The usual way moves the bits into a float's fields and multiplies by 2^112, the difference of the biases. Then
// subnormal numbers are subnormal floats in between, and each of those costs the processor some hundred cycles.
inline v128_t usual_f16_to_f32x4(v128_t half_i32x4) {
  const v128_t moved =
      wasm_v128_and(wasm_i32x4_shr(wasm_i32x4_shl(half_i32x4, 16), 3), pinned_i32x4<0x8fffe000>());
  const v128_t value = wasm_f32x4_mul(moved, pinned_f32x4<0x1p112f>());
  const v128_t special =
      wasm_u32x4_gt(wasm_v128_and(half_i32x4, pinned_i32x4<0x7fff>()), pinned_i32x4<0x7bff>());
  return wasm_v128_or(value, wasm_v128_and(special, pinned_i32x4<0x7f800000>()));  // infinity, NaN
}

// The steady way computes significand · 2^(exponent − 25), both factors exact and neither subnormal: for numbers that
// may well be subnormal, as the scales of K-quants are.
inline v128_t f16_to_f32x4(v128_t half_i32x4) {
  const v128_t magnitude = wasm_v128_and(half_i32x4, pinned_i32x4<0x7fff>());
  const v128_t exponent = wasm_v128_and(half_i32x4, pinned_i32x4<0x7c00>());
  const v128_t above = wasm_u16x8_sub_sat(exponent, pinned_i32x4<0x0400>());  // how far above subnormal
  const v128_t significand = wasm_f32x4_convert_i32x4(wasm_i32x4_sub(magnitude, above));
  const v128_t power = wasm_i32x4_add(wasm_i32x4_shl(above, 13), pinned_f32x4<0x1p-24f>());
  const v128_t special = wasm_i32x4_eq(exponent, pinned_i32x4<0x7c00>());  // infinity, NaN
  const v128_t sign = wasm_i32x4_shl(wasm_v128_xor(half_i32x4, magnitude), 16);
  const v128_t value = wasm_v128_or(wasm_f32x4_mul(significand, power), sign);
  return wasm_v128_or(value, wasm_v128_and(special, pinned_i32x4<0x7f800000>()));
}

// Not 0 in the lanes of F16 that have exponent 0 (zero, subnormal) or 31 (infinity, NaN).
inline v128_t f16x8_extremes(v128_t half_i16x8) {
  const v128_t without_sign = wasm_i16x8_shl(half_i16x8, 1);  // the exponent begins at bit 11
  // exponents 31 and 0 come last
  const v128_t turned = wasm_i16x8_sub(without_sign, pinned_i32x4<0x08000800>());
  return wasm_u16x8_sub_sat(turned, pinned_i32x4<0xefffefff>());
}

// For all others the bits move into a float's fields, and the exponent gets the difference of the biases. The upper and
// the lower halves of the floats are made of all eight before they meet.
inline void normal_f16x8_to_f32x4(v128_t half_i16x8, v128_t& first_f32x4, v128_t& second_f32x4) {
  const v128_t moved = wasm_v128_and(wasm_i16x8_shr(half_i16x8, 3), pinned_i32x4<0x8fff8fff>());
  const v128_t upper = wasm_i16x8_add(moved, pinned_i32x4<0x38003800>()),
               lower = wasm_i16x8_shl(half_i16x8, 13);
  first_f32x4 = wasm_i16x8_shuffle(lower, upper, 0, 8, 1, 9, 2, 10, 3, 11);
  second_f32x4 = wasm_i16x8_shuffle(lower, upper, 4, 12, 5, 13, 6, 14, 7, 15);
}

inline v128_t load_f16x4(const void* a, const void* b, const void* c, const void* d) {
  return f16_to_f32x4(load_shorts(a, b, c, d));
}
inline v128_t load_usual_f16x4(const void* a, const void* b, const void* c, const void* d) {
  return usual_f16_to_f32x4(load_shorts(a, b, c, d));
}

// E8M0 in four 32-bit lanes → half of it as a float, 2^(x − 128): e8m0_half_to_float() of core/half.h. 2^-128 and
// 2^-127 are made from 2^-126, the least power that has an exponent field of its own.
inline v128_t e8m0_half_to_f32x4(v128_t exponent_i32x4) {
  const v128_t two = pinned_i32x4<2>();
  // (x − 1) << 23 is 2^(x − 128), with at least 2 for x; what was below 2 comes as a factor.
  const v128_t normal =
      wasm_i32x4_shl(wasm_i32x4_sub(wasm_i32x4_max(exponent_i32x4, two), pinned_i32x4<1>()), 23);
  const v128_t below =
      wasm_i32x4_shl(wasm_i32x4_add(wasm_i32x4_min(exponent_i32x4, two), pinned_i32x4<125>()), 23);
  return wasm_f32x4_mul(normal, below);
}

// Lane i of the result is the sum of the lanes of vector i.
inline v128_t sums_of_f32x4(v128_t a, v128_t b, v128_t c, v128_t d) {
  const v128_t ab =
      wasm_f32x4_add(wasm_i32x4_shuffle(a, b, 0, 4, 1, 5), wasm_i32x4_shuffle(a, b, 2, 6, 3, 7));
  const v128_t cd =
      wasm_f32x4_add(wasm_i32x4_shuffle(c, d, 0, 4, 1, 5), wasm_i32x4_shuffle(c, d, 2, 6, 3, 7));
  return wasm_f32x4_add(wasm_i64x2_shuffle(ab, cd, 0, 2), wasm_i64x2_shuffle(ab, cd, 1, 3));
}

// All four lanes become lane `lane`.
template <size_t lane>
v128_t broadcast(v128_t vector) {
  return wasm_i32x4_shuffle(vector, vector, lane, lane, lane, lane);
}

}  // namespace id2vec
